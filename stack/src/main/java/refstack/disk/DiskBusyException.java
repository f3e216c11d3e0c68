package refstack.disk;

/** Another job is under way on this disk; over HTTP this is status 503. */
class DiskBusyException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    DiskBusyException() {
        super("Another disk job is under way in this node; they are done one at a time.");
    }
}
