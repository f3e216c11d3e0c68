/**
 * The message broker: embedded in a node, or a process of its own ({@link
 * refstack.broker.BrokerMain}) without Spring. Nodes reach it through {@code client}.
 */
package refstack.broker;
