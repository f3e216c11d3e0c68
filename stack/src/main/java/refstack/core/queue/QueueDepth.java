package refstack.core.queue;

/**
 * What is in a queue now.
 *
 * @param depth      messages that are not acknowledged yet, those in delivery and those that wait
 *                   for their next delivery included
 * @param delivering those of them that are with a consumer
 * @param dead       messages of all queues that were given up after too many deliveries
 */
public record QueueDepth(long depth, long delivering, long dead) {
}
