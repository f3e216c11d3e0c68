package refstack.bindings;

import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import refstack.answers.JsonAnswers;
import refstack.core.BackendUnavailableException;
import refstack.core.ConditionalOnBackend;
import refstack.core.ConditionalOnBackend.Place;
import refstack.core.ConditionalOnPart;
import refstack.core.Part;
import tools.jackson.databind.json.JsonMapper;

/** The receiver over plain HTTP. */
@RestController
@ConditionalOnBackend(Place.LOCAL)
@ConditionalOnPart(Part.BINDINGS)
class HttpReceiver {

    static final String PATH = "/bindings-receiver/http";

    private final Receiver receiver;
    private final int maxBytes;
    private final JsonAnswers answers;

    HttpReceiver(Receiver receiver, BindingProperties properties, JsonMapper json) {
        this.receiver = receiver;
        this.maxBytes = properties.maxBytes();
        this.answers = new JsonAnswers(json);
    }

    @PostMapping(PATH)
    ResponseEntity<byte[]> receive(@RequestParam("id") String id,
            @RequestParam(name = "work", defaultValue = "") String work,
            HttpServletRequest request) throws IOException {
        Work asked;
        try {
            asked = Work.of(work);
        } catch (IllegalArgumentException e) {
            return answers.problem(HttpStatus.BAD_REQUEST, e.getMessage());
        }
        byte[] body = request.getInputStream().readNBytes(maxBytes + 1);
        if (body.length > maxBytes) {
            return answers.problem(HttpStatus.CONTENT_TOO_LARGE,
                    "A payload has at most " + maxBytes + " bytes.");
        }
        try {
            return answers.of(HttpStatus.OK,
                    receiver.receive(HttpBinding.WAY, new Payload(id, body, asked)));
        } catch (BackendUnavailableException e) {
            return answers.problem(HttpStatus.SERVICE_UNAVAILABLE, e.getMessage());
        }
    }
}
