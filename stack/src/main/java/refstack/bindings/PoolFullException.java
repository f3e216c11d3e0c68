package refstack.bindings;

import org.springframework.http.HttpStatus;
import refstack.answers.Refusal;

/** A pool has no thread, and its queue no place, for another call. */
class PoolFullException extends Refusal {

    private static final long serialVersionUID = 1L;

    PoolFullException(String pool) {
        super(HttpStatus.SERVICE_UNAVAILABLE, "full", "The pool " + pool + " is full.");
    }
}
