package refstack.bindings;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import refstack.answers.JsonAnswers;
import refstack.answers.Refusal;
import refstack.core.ConditionalOnApp;
import refstack.core.Part;

/** The sender: calls the receiver in the way that the path names, as often as it is asked to. */
@RestController
@ConditionalOnApp(Part.BINDINGS)
class BindingController {

    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9.:_-]{1,64}");
    private static final Set<String> IN_PROCESS = Set.of("direct", "copy", QueueBinding.WAY);
    private static final double NANOS = 1e9;

    private final Map<String, Binding> bindings = new LinkedHashMap<>();
    private final Receiver receiver;
    private final BindingProperties properties;
    private final String node;
    private final MeterRegistry registry;
    private final Map<String, Long> firstNanos = new ConcurrentHashMap<>();
    private final JsonAnswers answers;

    private record Queued(String id, String way, int bytes, int calls, boolean queued,
            String sender) {
    }

    BindingController(List<Binding> bindings, Receiver receiver, BindingProperties properties,
            @Value("${refstack.node.name}") String node, MeterRegistry registry,
            JsonAnswers answers) {
        bindings.forEach(binding -> this.bindings.put(binding.way(), binding));
        bindings.stream().filter(OneWayBinding.class::isInstance).forEach(
                binding -> registry.counter("refstack.bindings.sent", "way", binding.way()));
        this.receiver = receiver;
        this.properties = properties;
        this.node = node;
        this.registry = registry;
        this.answers = answers;
    }

    @PostMapping("/bindings/{way}")
    ResponseEntity<byte[]> call(@PathVariable("way") String way,
            @RequestParam(name = "id", defaultValue = "0") String id,
            @RequestParam(name = "bytes", required = false) Integer bytes,
            @RequestParam(name = "calls", defaultValue = "1") int calls,
            @RequestParam(name = "work", defaultValue = "") String work,
            @RequestParam(name = "one-way", defaultValue = "false") boolean isOneWay,
            HttpServletRequest request) throws IOException {
        Binding binding = bindings.get(way);
        if (binding == null) {
            throw Refusal.unknown("There is no such binding here; there are "
                    + String.join(", ", bindings.keySet()) + ".");
        }
        if (calls < 1 || calls > properties.maxCalls() || !PLAIN.matcher(id).matches()
                || bytes != null && bytes < 0) {
            throw Refusal.malformed("calls must be from 1 to "
                    + properties.maxCalls() + ", bytes 0 or more, and id 1 to 64 letters, digits, "
                    + "points, colons, hyphens and underscores.");
        }
        byte[] body = bytes == null
                ? request.getInputStream().readNBytes(properties.maxBytes() + 1) : null;
        int size = body == null ? bytes : body.length;
        if (size > properties.maxBytes()) {
            throw Refusal.oversized(
                    "A payload has at most " + properties.maxBytes() + " bytes.");
        }
        Payload payload = new Payload(id, body == null ? made(size) : body, Work.of(work));
        if (!receiver.canDo(payload.work()) && IN_PROCESS.contains(way)) {
            throw Refusal.malformed(
                    "This node has no database: work over " + way + " can be rounds only.");
        }
        if (!isOneWay) {
            return answers.ok(run(binding, payload, calls));
        }
        if (binding instanceof OneWayBinding queued) {
            return answers.of(HttpStatus.ACCEPTED, send(queued, payload, calls));
        }
        throw Refusal.malformed(way + " has no queue: its calls are answered.");
    }

    /** Several messages of one request are numbered: the id, a hyphen and 1, 2, 3. */
    private Queued send(OneWayBinding binding, Payload payload, int calls) {
        for (int i = 1; i <= calls; i++) {
            try {
                binding.send(calls == 1 ? payload : new Payload(payload.id() + '-' + i,
                        payload.body(), payload.work()));
                counter("sent", "way", binding.way()).increment();
            } catch (PoolFullException e) {
                counter("failures", "way", binding.way(), "reason", "full").increment();
                throw e;
            }
        }
        return new Queued(payload.id(), binding.way(), payload.body().length, calls, true, node);
    }

    private Series.Answer run(Binding binding, Payload payload, int calls) {
        Series series = new Series(binding, payload);
        String outcome = "failed";
        try {
            for (int i = 0; i < calls; i++) {
                series.call();
            }
            outcome = "";
            return series.answer(node);
        } catch (PoolFullException e) {
            outcome = "full";
            throw e;
        } finally {
            if (series.calls() > 0) {
                firstNanos.computeIfAbsent(binding.way(), way -> first(way, series));
            }
            counter("calls", "way", binding.way()).increment(series.calls());
            counter("call.seconds", "way", binding.way())
                    .increment(series.totalNanos() / NANOS);
            if (!outcome.isEmpty()) {
                counter("failures", "way", binding.way(), "reason", outcome).increment();
            }
        }
    }

    /** How long the very first call of a way took, for as long as the node lives. */
    private long first(String way, Series series) {
        long nanos = series.firstNanos();
        Gauge.builder("refstack.bindings.first.seconds", () -> nanos / NANOS).tag("way", way)
                .register(registry);
        return nanos;
    }

    private Counter counter(String name, String... tags) {
        return registry.counter("refstack.bindings." + name, tags);
    }

    /** Bytes that do not compress, the same for each size. */
    private static byte[] made(int size) {
        byte[] body = new byte[size];
        new SplittableRandom(size).nextBytes(body);
        return body;
    }
}
