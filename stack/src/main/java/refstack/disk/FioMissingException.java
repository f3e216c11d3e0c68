package refstack.disk;

/** This host has no fio that could be run; over HTTP this is status 501. */
class FioMissingException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    FioMissingException(String message) {
        super(message);
    }
}
