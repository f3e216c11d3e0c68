/**
 * Synchronous calls from an app node to a back-end system, one a request, in three ways: a SOAP
 * call with a connection and a login of its own, a binary remote procedure call over a pooled
 * connection, and the same in a transaction whose log is forced to disk.
 */
package refstack.connector;
