package refstack.pages;

import org.springframework.http.HttpStatus;

/** A request that is not served, and the status that says so. */
class PageException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final HttpStatus status;

    PageException(HttpStatus status, String message) {
        super(message);
        this.status = status;
    }

    HttpStatus status() {
        return status;
    }
}
