package refstack.business;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.transaction.TransactionException;
import org.springframework.web.bind.MissingServletRequestParameterException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.method.annotation.MethodArgumentTypeMismatchException;
import refstack.core.ConditionalOnPart;
import refstack.core.ConditionalOnRole;
import refstack.core.Part;
import refstack.core.Role;

/** Pages for what is not served. */
@RestControllerAdvice(assignableTypes = {SessionController.class, CatalogController.class,
    OrderController.class, BooksController.class})
@ConditionalOnRole(Role.APP)
@ConditionalOnPart(Part.BUSINESS)
class BusinessProblems {

    private static final Logger LOGGER = LoggerFactory.getLogger(BusinessProblems.class);

    @ExceptionHandler
    ResponseEntity<byte[]> refused(BusinessException failure) {
        return Page.problem(failure.status(), failure.problem(), failure.getMessage());
    }

    @ExceptionHandler
    ResponseEntity<byte[]> malformed(MethodArgumentTypeMismatchException failure) {
        return refused(BusinessException.malformed(
                failure.getName() + " must be a whole number."));
    }

    @ExceptionHandler
    ResponseEntity<byte[]> malformed(MissingServletRequestParameterException failure) {
        return refused(BusinessException.malformed(failure.getParameterName() + " is missing."));
    }

    @ExceptionHandler
    ResponseEntity<byte[]> unavailable(DataAccessException failure) {
        LOGGER.warn("transaction not done: {}", failure.getMostSpecificCause().getMessage());
        return unavailable();
    }

    /** The database was away when a transaction was to begin, or to end. */
    @ExceptionHandler
    ResponseEntity<byte[]> unavailable(TransactionException failure) {
        LOGGER.warn("transaction not done: {}", failure.getMessage());
        return unavailable();
    }

    private static ResponseEntity<byte[]> unavailable() {
        return Page.problem(HttpStatus.SERVICE_UNAVAILABLE, "unavailable",
                "The database did not answer.");
    }
}
