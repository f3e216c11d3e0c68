package refstack.answers;

import java.time.Duration;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import tools.jackson.databind.json.JsonMapper;

/** What controllers answer as JSON; who is turned away for now is told when to come again. */
public final class JsonAnswers {

    private final JsonMapper json;
    private final String retrySeconds;

    /** Whoever is turned away may come again after a second. */
    public JsonAnswers(JsonMapper json) {
        this(json, Duration.ofSeconds(1));
    }

    public JsonAnswers(JsonMapper json, Duration retryAfter) {
        this.json = json;
        this.retrySeconds = Long.toString(Math.max(1, retryAfter.toSeconds()));
    }

    /** An answer with this body. */
    public ResponseEntity<byte[]> of(HttpStatus status, Object body) {
        ResponseEntity.BodyBuilder answer =
                ResponseEntity.status(status).contentType(MediaType.APPLICATION_JSON);
        if (status == HttpStatus.SERVICE_UNAVAILABLE) {
            answer.header(HttpHeaders.RETRY_AFTER, retrySeconds);
        }
        return answer.body(json.writeValueAsBytes(body));
    }

    /** What went wrong: the status once more, the standard words for it, and what was wrong here. */
    public ResponseEntity<byte[]> problem(HttpStatus status, String detail) {
        return of(status, new Problem(status.value(), status.getReasonPhrase(), detail));
    }

    private record Problem(int status, String title, String detail) { }
}
