/**
 * The back end in another process: the internal API that a node of role {@code backend} serves,
 * and the client by which a node of role {@code app} calls it.
 */
package refstack.remote;
