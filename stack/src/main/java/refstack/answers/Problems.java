package refstack.answers;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.method.HandlerMethod;

/** Answers what is not served, for every part: a problem (RFC 9457), counted by its controller. */
@RestControllerAdvice
class Problems {

    private final JsonAnswers answers;

    Problems(JsonAnswers answers) {
        this.answers = answers;
    }

    @ExceptionHandler
    ResponseEntity<byte[]> refused(Exception failure, HandlerMethod handler) throws Exception {
        Refusal refusal = Refusal.of(failure);
        if (refusal == null) {
            throw failure;
        }
        long retrySeconds = 1;
        if (handler.getBean() instanceof Refuses controller) {
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
