package refstack.answers;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Component;
import tools.jackson.databind.json.JsonMapper;

/** What controllers answer as JSON: written to memory first, so that each has a Content-Length. */
@Component
public class JsonAnswers {

    private final JsonMapper json;

    JsonAnswers(JsonMapper json) {
        this.json = json;
    }

    /** An answer with this body. */
    public ResponseEntity<byte[]> of(HttpStatus status, Object body) {
        return ResponseEntity.status(status).contentType(MediaType.APPLICATION_JSON)
                .body(json.writeValueAsBytes(body));
    }

    public ResponseEntity<byte[]> ok(Object body) {
        return of(HttpStatus.OK, body);
    }

    /** What went wrong: the status once more, the words for it, and what was wrong here. */
    public ResponseEntity<byte[]> problem(HttpStatus status, String detail, HttpHeaders headers) {
        return ResponseEntity.status(status).headers(headers)
                .contentType(MediaType.APPLICATION_PROBLEM_JSON)
                .body(json.writeValueAsBytes(ProblemDetail.forStatusAndDetail(status, detail)));
    }
}
