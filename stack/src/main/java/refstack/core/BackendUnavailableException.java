package refstack.core;

/** The back end cannot be reached or gave an answer that is none; over HTTP this is status 503. */
public class BackendUnavailableException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public BackendUnavailableException(String message, Throwable cause) {
        super(message, cause);
    }
}
