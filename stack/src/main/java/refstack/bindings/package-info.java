/**
 * A sender and a receiver joined in seven ways, from a plain call to a queue of a broker: what does
 * the binding cost, and which thread of which pool serves it?
 */
package refstack.bindings;
