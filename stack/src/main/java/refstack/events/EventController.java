package refstack.events;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.util.Map;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;
import refstack.answers.JsonAnswers;
import refstack.core.ConditionalOnPart;
import refstack.core.ConditionalOnRole;
import refstack.core.Part;
import refstack.core.Role;
import refstack.core.queue.DurableQueues;
import refstack.core.queue.QueueFullException;
import refstack.core.queue.QueueUnavailableException;
import refstack.core.queue.QueuedMessage;
import tools.jackson.databind.json.JsonMapper;

/** Accepts events: an answer of 202 means that the event is on disk and will be stored once. */
@RestController
@ConditionalOnRole(Role.APP)
@ConditionalOnPart(Part.EVENTS)
class EventController {

    private final DurableQueues queues;
    private final EventReader reader;
    private final EventProperties properties;
    private final String node;
    private final MeterRegistry registry;
    private final Counter accepted;
    private final JsonAnswers answers;

    EventController(DurableQueues queues, EventReader reader, EventProperties properties,
            @Value("${refstack.node.name}") String node, MeterRegistry registry, JsonMapper json) {
        this.queues = queues;
        this.reader = reader;
        this.properties = properties;
        this.node = node;
        this.registry = registry;
        this.accepted = registry.counter("refstack.events.events", "outcome", "accepted");
        this.answers = new JsonAnswers(json, properties.retryAfter());
    }

    @PostMapping("/events")
    ResponseEntity<byte[]> accept(
            @RequestHeader(name = "Idempotency-Key", required = false) String key,
            HttpServletRequest request) throws IOException {
        int most = (int) properties.maxBody().toBytes();
        byte[] body = request.getInputStream().readNBytes(most + 1);
        if (body.length > most) {
            return refused(HttpStatus.CONTENT_TOO_LARGE, "oversized",
                    "An event has at most " + most + " bytes.");
        }
        Event event;
        try {
            event = reader.read(body, key);
        } catch (MalformedEventException e) {
            return refused(HttpStatus.BAD_REQUEST, "malformed", e.getMessage());
        }
        queues.send(properties.queue(), new QueuedMessage(event.id(), body));
        accepted.increment();
        return answers.of(HttpStatus.ACCEPTED, Map.of("id", event.id(), "node", node));
    }

    @ExceptionHandler
    ResponseEntity<byte[]> full(QueueFullException failure) {
        return refused(HttpStatus.SERVICE_UNAVAILABLE, "full", failure.getMessage());
    }

    @ExceptionHandler
    ResponseEntity<byte[]> unavailable(QueueUnavailableException failure) {
        return refused(HttpStatus.SERVICE_UNAVAILABLE, "unavailable", failure.getMessage());
    }

    private ResponseEntity<byte[]> refused(HttpStatus status, String reason, String detail) {
        registry.counter("refstack.events.refused", "reason", reason).increment();
        return answers.problem(status, detail);
    }
}
