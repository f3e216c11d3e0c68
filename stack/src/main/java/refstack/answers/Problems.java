package refstack.answers;

import jakarta.servlet.http.HttpServletRequest;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerMapping;

/** Answers what is not served, for every part: a problem (RFC 9457), counted by its controller. */
@RestControllerAdvice
class Problems {

    private final JsonAnswers answers;

    Problems(JsonAnswers answers) {
        this.answers = answers;
    }

    @ExceptionHandler
    ResponseEntity<byte[]> refused(Exception failure, HttpServletRequest request)
            throws Exception {
        Refusal refusal = Refusal.of(failure);
        if (refusal == null) {
            throw failure;
        }
        long retrySeconds = 1;
        // There is none where no path or method fits.
        if (request.getAttribute(HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE)
                instanceof HandlerMethod handler
                && handler.createWithResolvedBean().getBean() instanceof Refuses controller) {
            retrySeconds = Math.max(1, controller.retryAfter().toSeconds());
            if (!refusal.reason().isEmpty()) {
                controller.refused(refusal.reason());
            }
        }
        HttpHeaders headers = new HttpHeaders();
        if (refusal.status() == HttpStatus.SERVICE_UNAVAILABLE) {
            headers.set(HttpHeaders.RETRY_AFTER, Long.toString(retrySeconds));
        }
        return answers.problem(refusal.status(), refusal.getMessage(), headers);
    }
}
