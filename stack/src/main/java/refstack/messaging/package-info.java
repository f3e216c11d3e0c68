/** Messages in a durable queue, and consumers that turn each of them into a row. */
package refstack.messaging;
