package refstack.work;

import org.springframework.http.HttpStatus;

/** A request that is not served, and the status that says so. */
class WorkException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final HttpStatus status;

    WorkException(HttpStatus status, String message) {
        super(message);
        this.status = status;
    }

    static WorkException malformed(String message) {
        return new WorkException(HttpStatus.BAD_REQUEST, message);
    }

    static WorkException unknown(String message) {
        return new WorkException(HttpStatus.NOT_FOUND, message);
    }

    /** The node has the part, but its database lacks what the part works on. */
    static WorkException noLedger() {
        return new WorkException(HttpStatus.CONFLICT, "The database has no ledger: it was loaded "
                + "without one (LoadMain --ledger).");
    }

    HttpStatus status() {
        return status;
    }
}
