package refstack.answers;

import java.sql.SQLException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.http.HttpStatus;
import org.springframework.transaction.TransactionException;
import org.springframework.web.bind.MissingServletRequestParameterException;
import org.springframework.web.method.annotation.MethodArgumentTypeMismatchException;
import refstack.core.BackendTimeoutException;
import refstack.core.BackendUnavailableException;
import refstack.core.RefusedDocumentException;
import refstack.core.UnknownWayException;
import refstack.core.queue.QueueFullException;
import refstack.core.queue.QueueUnavailableException;

/** A request that is not served: the status that says so, a word for counters, a sentence. */
public class Refusal extends RuntimeException {

    private static final long serialVersionUID = 1L;
    private static final Logger LOGGER = LoggerFactory.getLogger(Refusal.class);

    private final HttpStatus status;
    private final String reason;

    /** One with a word by which it is counted; an empty one is not counted. */
    public Refusal(HttpStatus status, String reason, String message) {
        super(message, null, false, false);
        this.status = status;
        this.reason = reason;
    }

    /** The request is wrong in itself. */
    public static Refusal malformed(String message) {
        return new Refusal(HttpStatus.BAD_REQUEST, "malformed", message);
    }

    /** Its body is too large. */
    public static Refusal oversized(String message) {
        return new Refusal(HttpStatus.CONTENT_TOO_LARGE, "oversized", message);
    }

    /** What it is about is not there. */
    public static Refusal unknown(String message) {
        return new Refusal(HttpStatus.NOT_FOUND, "unknown", message);
    }

    /** What a failure means for who asked; null if nobody foresaw it. */
    public static Refusal of(Exception failure) {
        if (failure instanceof Refusal refusal) {
            return refusal;
        }
        if (failure instanceof MissingServletRequestParameterException missing) {
            return malformed(missing.getParameterName() + " is missing.");
        }
        if (failure instanceof MethodArgumentTypeMismatchException mistyped) {
            return malformed(mistyped.getName() + (mistyped.getRequiredType() == boolean.class
                    ? " must be true or false." : " must be a whole number."));
        }
        if (failure instanceof RefusedDocumentException document) {
            return document.reason() == RefusedDocumentException.Reason.SIZE
                    ? oversized(failure.getMessage()) : malformed(failure.getMessage());
        }
        if (failure instanceof UnknownWayException) {
            return unknown(failure.getMessage());
        }
        if (failure instanceof IllegalArgumentException) {
            return malformed(failure.getMessage());
        }
        if (failure instanceof BackendTimeoutException) {
            return new Refusal(HttpStatus.GATEWAY_TIMEOUT, "late", failure.getMessage());
        }
        if (failure instanceof QueueFullException) {
            return new Refusal(HttpStatus.SERVICE_UNAVAILABLE, "full", failure.getMessage());
        }
        if (failure instanceof BackendUnavailableException
                || failure instanceof QueueUnavailableException) {
            LOGGER.debug("not served", failure);
            return unavailable(failure.getMessage());
        }
        if (failure instanceof DataAccessException || failure instanceof TransactionException
                || failure instanceof SQLException) {
            LOGGER.warn("not served: {}", failure instanceof DataAccessException access
                    ? access.getMostSpecificCause().getMessage() : failure.getMessage());
            return unavailable("The database did not answer.");
        }
        return null;
    }

    private static Refusal unavailable(String message) {
        return new Refusal(HttpStatus.SERVICE_UNAVAILABLE, "unavailable", message);
    }

    public HttpStatus status() {
        return status;
    }

    /** One word for programs. */
    public String reason() {
        return reason;
    }
}
