package refstack.core.queue;

/** Works on messages, several at a time. */
@FunctionalInterface
public interface QueueHandler {

    /**
     * Works on one message. It is off the queue when this returns; if it throws, the message comes
     * again later. A message may also come again after it was worked on, if the process or the
     * broker ended in between: what is done here must be harmless if done twice.
     *
     * @throws Exception the message could not be worked on now
     */
    void handle(QueuedMessage message) throws Exception;
}
