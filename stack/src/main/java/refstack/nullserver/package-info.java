/** A server that does nothing, as fast as it can: it shows how fast the load generator is. */
package refstack.nullserver;
