package refstack.business;

import org.springframework.http.HttpStatus;
import refstack.answers.Refusal;

/** A request that is not served: the status and the word that say so, and a sentence. */
class BusinessException extends Refusal {

    private static final long serialVersionUID = 1L;

    private BusinessException(HttpStatus status, String problem, String message) {
        super(status, problem, message);
    }

    static BusinessException unknown(String what, long number) {
        return new BusinessException(HttpStatus.NOT_FOUND, "unknown",
                "There is no " + what + " " + number + ".");
    }

    static BusinessException noSession() {
        return new BusinessException(HttpStatus.UNAUTHORIZED, "no-session",
                "There is no session; POST /business/sign-on?user=... opens one.");
    }

    static BusinessException lostSession() {
        return new BusinessException(HttpStatus.UNAUTHORIZED, "lost-session",
                "Your session is not known here, or not any more; sign on again.");
    }

    static BusinessException noDraft() {
        return conflict("no-draft", "There is no order in progress, or it has no lines.");
    }

    static BusinessException notAvailable(int item) {
        return conflict("not-available", "The stock of item " + item + " does not suffice.");
    }

    static BusinessException shipped(long order) {
        return conflict("shipped", "Order " + order + " is shipped already.");
    }

    static BusinessException otherRequest(String request) {
        return conflict("other-request",
                "Request " + request + " was another kind of transaction.");
    }

    static BusinessException tooLarge(int lines) {
        return new BusinessException(HttpStatus.CONTENT_TOO_LARGE, "too-large",
                "An order has " + lines + " lines at most.");
    }

    private static BusinessException conflict(String problem, String message) {
        return new BusinessException(HttpStatus.CONFLICT, problem, message);
    }
}
