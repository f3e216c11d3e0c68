package refstack.messaging;

import io.micrometer.core.instrument.MeterRegistry;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.time.Duration;
import java.util.regex.Pattern;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import refstack.answers.JsonAnswers;
import refstack.answers.Refusal;
import refstack.answers.Refuses;
import refstack.core.ConditionalOnApp;
import refstack.core.Part;
import refstack.core.queue.QueuedMessage;

/** Takes messages, and tells and changes how they are worked on. */
@RestController
@ConditionalOnApp(Part.MESSAGING)
class MessagingController implements Refuses {

    private static final Pattern IDENTIFIER = Pattern.compile("[A-Za-z0-9._:-]{1,200}");

    private final Messaging messaging;
    private final MessagingProperties properties;
    private final String node;
    private final MeterRegistry registry;
    private final JsonAnswers answers;

    MessagingController(Messaging messaging, MessagingProperties properties,
            @Value("${refstack.node.name}") String node, MeterRegistry registry,
            JsonAnswers answers) {
        this.messaging = messaging;
        this.properties = properties;
        this.node = node;
        this.registry = registry;
        this.answers = answers;
    }

    @PostMapping("/messaging/messages")
    ResponseEntity<byte[]> send(@RequestParam("id") String id,
            @RequestParam(name = "queue", defaultValue = "") String queue,
            HttpServletRequest request) throws IOException {
        String target = queue.isEmpty() ? properties.workQueue() : queue;
        if (!properties.queues().contains(target)) {
            throw new Refusal(HttpStatus.NOT_FOUND, "queue", "There is no such queue; there are "
                    + String.join(", ", properties.queues()) + ".");
        }
        if (!IDENTIFIER.matcher(id).matches()) {
            throw Refusal.malformed(
                    "id must be 1 to 200 letters, digits, '.', '_', ':', '-'.");
        }
        int most = (int) properties.maxBody().toBytes();
        byte[] body = request.getInputStream().readNBytes(most + 1);
        if (body.length > most) {
            throw Refusal.oversized("A message has at most " + most + " bytes.");
        }
        messaging.send(target, new QueuedMessage(id, body));
        return answers.ok(new Queued(id, body.length, true, target, node));
    }

    @PostMapping("/messaging/fill")
    ResponseEntity<byte[]> fill(@RequestParam("count") int count, @RequestParam("bytes") int bytes,
            @RequestParam("seed") long seed,
            @RequestParam(name = "node", defaultValue = "") String wanted) {
        check(wanted);
        if (count < 1 || count > properties.maxFill()) {
            throw Refusal.malformed(
                    "count must be from 1 to " + properties.maxFill() + ".");
        }
        if (bytes < 0 || bytes > properties.maxBody().toBytes()) {
            throw Refusal.malformed(
                    "bytes must be from 0 to " + properties.maxBody().toBytes() + ".");
        }
        messaging.fill(count, new Filling(seed, bytes));
        return answers.ok(new Filled(count, bytes, seed, node));
    }

    @PostMapping("/messaging/consumers")
    ResponseEntity<byte[]> resize(@RequestParam("count") int count,
            @RequestParam(name = "node", defaultValue = "") String wanted) {
        check(wanted);
        if (count < 0 || count > MessagingProperties.MAX_CONSUMERS) {
            throw Refusal.malformed(
                    "count must be from 0 to " + MessagingProperties.MAX_CONSUMERS + ".");
        }
        messaging.resize(count);
        return answers.ok(new Consuming(count, node));
    }

    @GetMapping("/messaging/state")
    ResponseEntity<byte[]> state(
            @RequestParam(name = "node", defaultValue = "") String wanted) {
        check(wanted);
        return answers.ok(messaging.state());
    }

    /** Behind a balancer the nodes are told apart by their names: the wrong one does nothing. */
    private void check(String wanted) {
        if (!wanted.isEmpty() && !wanted.equals(node)) {
            throw new Refusal(HttpStatus.MISDIRECTED_REQUEST, "", "This is node " + node + ".");
        }
    }

    private record Queued(String id, int bytes, boolean queued, String queue, String node) {
    }

    private record Filled(int count, int bytes, long seed, String node) {
    }

    private record Consuming(int consumers, String node) {
    }

    @Override
    public void refused(String reason) {
        registry.counter("refstack.messaging.refused", "reason", reason).increment();
    }

    @Override
    public Duration retryAfter() {
        return properties.retryAfter();
    }
}
