package refstack.bindings;

import org.springframework.http.HttpStatus;

/**
 * What went wrong, for the client.
 *
 * @param status the HTTP status once more
 * @param title  the standard words for it
 * @param detail what was wrong with this request
 */
record Problem(int status, String title, String detail) {

    static Problem of(HttpStatus status, String detail) {
        return new Problem(status.value(), status.getReasonPhrase(), detail);
    }
}
