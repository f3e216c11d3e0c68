package refstack.bindings;

import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import refstack.answers.JsonAnswers;
import refstack.answers.Refusal;
import refstack.core.ConditionalOnBackend.Place;
import refstack.core.ConditionalOnBackend;
import refstack.core.ConditionalOnPart;
import refstack.core.Part;

/** The receiver over plain HTTP. */
@RestController
@ConditionalOnBackend(Place.LOCAL)
@ConditionalOnPart(Part.BINDINGS)
class HttpReceiver {

    static final String PATH = "/bindings-receiver/http";

    private final Receiver receiver;
    private final int maxBytes;
    private final JsonAnswers answers;

    HttpReceiver(Receiver receiver, BindingProperties properties, JsonAnswers answers) {
        this.receiver = receiver;
        this.maxBytes = properties.maxBytes();
        this.answers = answers;
    }

    @PostMapping(PATH)
    ResponseEntity<byte[]> receive(@RequestParam("id") String id,
            @RequestParam(name = "work", defaultValue = "") String work,
            HttpServletRequest request) throws IOException {
        Work asked = Work.of(work);
        byte[] body = request.getInputStream().readNBytes(maxBytes + 1);
        if (body.length > maxBytes) {
            throw Refusal.oversized("A payload has at most " + maxBytes + " bytes.");
        }
        return answers.ok(receiver.receive(HttpBinding.WAY, new Payload(id, body, asked)));
    }
}
