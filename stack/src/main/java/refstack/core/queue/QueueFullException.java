package refstack.core.queue;

/** A queue has no room for another message; over HTTP this is status 503. */
public class QueueFullException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public QueueFullException(String message, Throwable cause) {
        super(message, cause);
    }
}
