package refstack.core;

/** The back end did not answer in time; over HTTP this is status 504. */
public class BackendTimeoutException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public BackendTimeoutException(String message, Throwable cause) {
        super(message, cause);
    }
}
