/**
 * Pages of interactive users: a session, pages of four or five parts, three requests a part (the
 * query's rows, its display, binary data of its chart), and documents in the background.
 */
package refstack.pages;
