package refstack.business;

import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import refstack.answers.Refusal;
import refstack.core.ConditionalOnApp;
import refstack.core.Part;

/** Problems as pages: who asks for the business is a person. */
@RestControllerAdvice(assignableTypes = {SessionController.class, CatalogController.class,
    OrderController.class, BooksController.class})
@Order(Ordered.HIGHEST_PRECEDENCE)
@ConditionalOnApp(Part.BUSINESS)
class BusinessProblems {

    @ExceptionHandler
    ResponseEntity<byte[]> refused(Exception failure) throws Exception {
        Refusal refusal = Refusal.of(failure);
        if (refusal == null) {
            throw failure;
        }
        return Page.problem(refusal.status(), refusal.reason(), refusal.getMessage());
    }
}
