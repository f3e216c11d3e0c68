package refstack.events;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.time.Duration;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;
import refstack.answers.JsonAnswers;
import refstack.answers.Refusal;
import refstack.answers.Refuses;
import refstack.core.ConditionalOnApp;
import refstack.core.Part;
import refstack.core.queue.DurableQueues;
import refstack.core.queue.QueuedMessage;

/** Accepts events: an answer of 202 means that the event is on disk and will be stored once. */
@RestController
@ConditionalOnApp(Part.EVENTS)
class EventController implements Refuses {

    private final DurableQueues queues;
    private final EventReader reader;
    private final EventProperties properties;
    private final String node;
    private final MeterRegistry registry;
    private final Counter accepted;
    private final JsonAnswers answers;

    EventController(DurableQueues queues, EventReader reader, EventProperties properties,
            @Value("${refstack.node.name}") String node, MeterRegistry registry,
            JsonAnswers answers) {
        this.queues = queues;
        this.reader = reader;
        this.properties = properties;
        this.node = node;
        this.registry = registry;
        this.accepted = registry.counter("refstack.events.events", "outcome", "accepted");
        this.answers = answers;
    }

    @PostMapping("/events")
    ResponseEntity<byte[]> accept(
            @RequestHeader(name = "Idempotency-Key", required = false) String key,
            HttpServletRequest request) throws IOException {
        int most = (int) properties.maxBody().toBytes();
        byte[] body = request.getInputStream().readNBytes(most + 1);
        if (body.length > most) {
            throw Refusal.oversized("An event has at most " + most + " bytes.");
        }
        Event event = reader.read(body, key);
        queues.send(properties.queue(), new QueuedMessage(event.id(), body));
        accepted.increment();
        return answers.of(HttpStatus.ACCEPTED, new Accepted(event.id(), node));
    }

    private record Accepted(String id, String node) {
    }

    @Override
    public void refused(String reason) {
        registry.counter("refstack.events.refused", "reason", reason).increment();
    }

    @Override
    public Duration retryAfter() {
        return properties.retryAfter();
    }
}
