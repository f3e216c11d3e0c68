/** Durable queues over Jakarta Messaging, for the nodes: the one user of {@code refstack.broker}. */
package refstack.broker.client;
