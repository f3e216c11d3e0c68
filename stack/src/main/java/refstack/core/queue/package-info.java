/**
 * Durable queues as those see them who send messages and who work on them. Knows no broker and no
 * message API: {@code refstack.broker.client} has the one implementation.
 */
package refstack.core.queue;
