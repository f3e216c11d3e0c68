/**
 * How nodes call each other over SOAP, HTTP and remote procedure calls: one set of clients, servers
 * and failures for every part that has any of them.
 */
package refstack.transport;
