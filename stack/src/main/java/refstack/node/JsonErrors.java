package refstack.node;

import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Map;
import org.springframework.boot.webmvc.error.ErrorController;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import tools.jackson.databind.json.JsonMapper;

/** Answers what no protocol answered (an unknown path) with a small JSON body, never HTML. */
@RestController
class JsonErrors implements ErrorController {

    private final JsonMapper json;

    JsonErrors(JsonMapper json) {
        this.json = json;
    }

    @RequestMapping("/error")
    ResponseEntity<byte[]> error(HttpServletRequest request) {
        HttpStatus status = statusOf(request);
        Map<String, Object> body = Map.of(
                "status", status.value(),
                "title", status.getReasonPhrase(),
                "detail", status.is5xxServerError() ? "An error of the server; its log says more."
                        : "Nothing is served at this path in this way.");
        return ResponseEntity.status(status).contentType(MediaType.APPLICATION_JSON)
                .body(json.writeValueAsBytes(body));
    }

    private static HttpStatus statusOf(HttpServletRequest request) {
        Object code = request.getAttribute(RequestDispatcher.ERROR_STATUS_CODE);
        HttpStatus status = code instanceof Integer number ? HttpStatus.resolve(number) : null;
        return status == null ? HttpStatus.NOT_FOUND : status;
    }
}
