package refstack.core.queue;

/** The broker cannot be reached, or did not say what became of a message: status 503 over HTTP. */
public class QueueUnavailableException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public QueueUnavailableException(String message, Throwable cause) {
        super(message, cause);
    }
}
