package refstack.core.queue;

import java.util.function.IntFunction;

/** Queues on disk, in this process or in another one. */
public interface DurableQueues {

    /**
     * Adds a message. It is on disk, and survives the end of every process, when this returns.
     *
     * @throws QueueFullException        if the queue has no room
     * @throws QueueUnavailableException if it cannot be said that the message is on disk; it may be
     *                                   there all the same
     */
    void send(String queue, QueuedMessage message);

    /**
     * Adds messages {@code 0} to {@code count - 1} in transactions of {@code perTransaction}; all
     * are on disk when this returns.
     *
     * @throws QueueFullException        if there is no room for all; those before are there
     * @throws QueueUnavailableException if it cannot be said that all are on disk
     */
    void sendAll(String queue, int count, IntFunction<QueuedMessage> message, int perTransaction);

    /**
     * Lets a handler work on the messages of a queue, in threads of their own that are named after
     * {@code name}. Reconnects by itself. Close before what the handler needs is closed.
     */
    QueueConsumers consume(String name, String queue, int count, QueueHandler handler);

    /**
     * What is in a queue, by the broker's account.
     *
     * @throws QueueUnavailableException if the broker does not answer
     */
    QueueDepth depth(String queue);
}
