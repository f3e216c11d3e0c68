/**
 * A trading business behind HTML pages: users sign on, their session keeps an order in progress, and
 * 17 transactions read and write items, customers, stock, orders and a general ledger.
 */
package refstack.business;
