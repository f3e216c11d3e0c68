package refstack.core.queue;

/** Threads that take messages off a queue, each working on one message at a time. */
public interface QueueConsumers extends AutoCloseable {

    /** Starts or stops threads until there are this many; waits for the work of those it stops. */
    void resize(int count);

    /** How many threads there are to be. */
    int size();

    /** How many of them work on a message now. */
    int busy();

    /** How often a message went back since working on it failed. */
    long failures();

    @Override
    void close();
}
