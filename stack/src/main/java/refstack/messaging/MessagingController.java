package refstack.messaging;

import io.micrometer.core.instrument.MeterRegistry;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.util.Map;
import java.util.regex.Pattern;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.MissingServletRequestParameterException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.method.annotation.MethodArgumentTypeMismatchException;
import refstack.answers.JsonAnswers;
import refstack.core.ConditionalOnPart;
import refstack.core.ConditionalOnRole;
import refstack.core.Part;
import refstack.core.Role;
import refstack.core.queue.QueueFullException;
import refstack.core.queue.QueueUnavailableException;
import refstack.core.queue.QueuedMessage;
import tools.jackson.databind.json.JsonMapper;

/** Takes messages, and tells and changes how they are worked on. */
@RestController
@ConditionalOnRole(Role.APP)
@ConditionalOnPart(Part.MESSAGING)
class MessagingController {

    private static final Pattern IDENTIFIER = Pattern.compile("[A-Za-z0-9._:-]{1,200}");

    private final Messaging messaging;
    private final MessagingProperties properties;
    private final String node;
    private final MeterRegistry registry;
    private final JsonAnswers answers;

    MessagingController(Messaging messaging, MessagingProperties properties,
            @Value("${refstack.node.name}") String node, MeterRegistry registry, JsonMapper json) {
        this.messaging = messaging;
        this.properties = properties;
        this.node = node;
        this.registry = registry;
        this.answers = new JsonAnswers(json, properties.retryAfter());
    }

    @PostMapping("/messaging/messages")
    ResponseEntity<byte[]> send(@RequestParam("id") String id,
            @RequestParam(name = "queue", defaultValue = "") String queue,
            HttpServletRequest request) throws IOException {
        String target = queue.isEmpty() ? properties.workQueue() : queue;
        if (!properties.queues().contains(target)) {
            return refused(HttpStatus.NOT_FOUND, "queue", "There is no such queue; there are "
                    + String.join(", ", properties.queues()) + ".");
        }
        if (!IDENTIFIER.matcher(id).matches()) {
            return refused(HttpStatus.BAD_REQUEST, "malformed",
                    "id must be 1 to 200 letters, digits, '.', '_', ':', '-'.");
        }
        int most = (int) properties.maxBody().toBytes();
        byte[] body = request.getInputStream().readNBytes(most + 1);
        if (body.length > most) {
            return refused(HttpStatus.CONTENT_TOO_LARGE, "oversized",
                    "A message has at most " + most + " bytes.");
        }
        messaging.send(target, new QueuedMessage(id, body));
        return answers.of(HttpStatus.OK, Map.of("id", id, "bytes", body.length, "queued", true,
                "queue", target, "node", node));
    }

    @PostMapping("/messaging/fill")
    ResponseEntity<byte[]> fill(@RequestParam("count") int count, @RequestParam("bytes") int bytes,
            @RequestParam("seed") long seed,
            @RequestParam(name = "node", defaultValue = "") String wanted) {
        if (isOther(wanted)) {
            return misdirected();
        }
        if (count < 1 || count > properties.maxFill()) {
            return refused(HttpStatus.BAD_REQUEST, "malformed",
                    "count must be from 1 to " + properties.maxFill() + ".");
        }
        if (bytes < 0 || bytes > properties.maxBody().toBytes()) {
            return refused(HttpStatus.BAD_REQUEST, "malformed",
                    "bytes must be from 0 to " + properties.maxBody().toBytes() + ".");
        }
        messaging.fill(count, new Filling(seed, bytes));
        return answers.of(HttpStatus.OK,
                Map.of("count", count, "bytes", bytes, "seed", seed, "node", node));
    }

    @PostMapping("/messaging/consumers")
    ResponseEntity<byte[]> resize(@RequestParam("count") int count,
            @RequestParam(name = "node", defaultValue = "") String wanted) {
        if (isOther(wanted)) {
            return misdirected();
        }
        if (count < 0 || count > MessagingProperties.MAX_CONSUMERS) {
            return refused(HttpStatus.BAD_REQUEST, "malformed",
                    "count must be from 0 to " + MessagingProperties.MAX_CONSUMERS + ".");
        }
        messaging.resize(count);
        return answers.of(HttpStatus.OK, Map.of("consumers", count, "node", node));
    }

    @GetMapping("/messaging/state")
    ResponseEntity<byte[]> state(
            @RequestParam(name = "node", defaultValue = "") String wanted) {
        if (isOther(wanted)) {
            return misdirected();
        }
        return answers.of(HttpStatus.OK, messaging.state());
    }

    @ExceptionHandler
    ResponseEntity<byte[]> full(QueueFullException failure) {
        return refused(HttpStatus.SERVICE_UNAVAILABLE, "full", failure.getMessage());
    }

    @ExceptionHandler
    ResponseEntity<byte[]> unavailable(QueueUnavailableException failure) {
        return refused(HttpStatus.SERVICE_UNAVAILABLE, "unavailable", failure.getMessage());
    }

    @ExceptionHandler
    ResponseEntity<byte[]> missing(MissingServletRequestParameterException failure) {
        return refused(HttpStatus.BAD_REQUEST, "malformed",
                failure.getParameterName() + " is missing.");
    }

    @ExceptionHandler
    ResponseEntity<byte[]> mistyped(MethodArgumentTypeMismatchException failure) {
        return refused(HttpStatus.BAD_REQUEST, "malformed",
                failure.getName() + " must be a whole number.");
    }

    /** Behind a balancer the nodes are told apart by their names: the wrong one does nothing. */
    private boolean isOther(String wanted) {
        return !wanted.isEmpty() && !wanted.equals(node);
    }

    private ResponseEntity<byte[]> misdirected() {
        return answers.problem(HttpStatus.MISDIRECTED_REQUEST, "This is node " + node + ".");
    }

    private ResponseEntity<byte[]> refused(HttpStatus status, String reason, String detail) {
        registry.counter("refstack.messaging.refused", "reason", reason).increment();
        return answers.problem(status, detail);
    }
}
