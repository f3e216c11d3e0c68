/**
 * A server that does nothing, as fast as it can: it shows how fast the load generator is. Or one
 * that does nothing for a known time: it shows whether the load generator tells the truth.
 */
package refstack.nullserver;
