package refstack.node;

import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServletRequest;
import org.springframework.boot.webmvc.error.ErrorController;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import refstack.answers.JsonAnswers;

/** Answers what no protocol answered (an unknown path) with a small JSON body, never HTML. */
@RestController
class JsonErrors implements ErrorController {

    private final JsonAnswers answers;

    JsonErrors(JsonAnswers answers) {
        this.answers = answers;
    }

    @RequestMapping("/error")
    ResponseEntity<byte[]> error(HttpServletRequest request) {
        HttpStatus status = statusOf(request);
        return answers.problem(status, status.is5xxServerError()
                ? "An error of the server; its log says more."
                : "Nothing is served at this path in this way.", new HttpHeaders());
    }

    private static HttpStatus statusOf(HttpServletRequest request) {
        Object code = request.getAttribute(RequestDispatcher.ERROR_STATUS_CODE);
        HttpStatus status = code instanceof Integer number ? HttpStatus.resolve(number) : null;
        return status == null ? HttpStatus.NOT_FOUND : status;
    }
}
