package refstack.connector;

/** The back end knows no branch of that name: it was ended before, or given up. */
class NoBranchException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    NoBranchException(String message, Throwable cause) {
        super(message, cause);
    }
}
