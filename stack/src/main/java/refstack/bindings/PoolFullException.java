package refstack.bindings;

/** A pool has no thread, and its queue no place, for another call; over HTTP this is status 503. */
class PoolFullException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    PoolFullException(String pool) {
        super("The pool " + pool + " is full.");
    }
}
