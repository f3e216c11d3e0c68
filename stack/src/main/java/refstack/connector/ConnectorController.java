package refstack.connector;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import refstack.answers.JsonAnswers;
import refstack.answers.Refusal;
import refstack.answers.Refuses;
import refstack.core.ConditionalOnApp;
import refstack.core.Part;

/** Takes a message and hands it to the back end in the way that the path names. */
@RestController
@ConditionalOnApp(Part.CONNECTORS)
class ConnectorController implements Refuses {

    private static final List<String> REASONS =
            List.of("unknown", "malformed", "oversized", "late", "unavailable");

    private final Map<String, Connector> connectors;
    private final int maxBytes;
    private final String node;
    private final JsonAnswers answers;
    private final Map<String, Counter> sent = new HashMap<>();
    private final Map<String, Counter> rejected = new HashMap<>();

    private record Told(String id, long bytes, boolean stored, String way, String node) {
    }

    ConnectorController(List<Connector> connectors, ConnectorProperties properties,
            @Value("${refstack.node.name}") String node, JsonAnswers answers,
            MeterRegistry registry) {
        this.connectors = connectors.stream()
                .collect(Collectors.toMap(Connector::way, Function.identity()));
        this.maxBytes = Math.toIntExact(properties.maxBody().toBytes());
        this.node = node;
        this.answers = answers;
        this.connectors.keySet().forEach(way -> sent.put(way,
                registry.counter("refstack.connector.sent", "way", way)));
        for (String reason : REASONS) {
            rejected.put(reason, registry.counter("refstack.connector.rejected",
                    "reason", reason));
        }
    }

    /** A form is not taken: reading its parameters would eat the message. */
    @PostMapping(path = "/connectors/{way}/messages", consumes = {MediaType.APPLICATION_XML_VALUE,
        MediaType.TEXT_XML_VALUE, MediaType.APPLICATION_OCTET_STREAM_VALUE})
    ResponseEntity<byte[]> send(@PathVariable("way") String way,
            @RequestParam(name = "id", defaultValue = "") String id, HttpServletRequest request)
            throws IOException {
        Connector connector = connectors.get(way);
        if (connector == null) {
            throw Refusal.unknown("There is no such way to the back end; there are "
                    + String.join(", ", connectors.keySet().stream().sorted().toList()) + ".");
        }
        byte[] body = request.getContentLengthLong() > maxBytes ? null
                : request.getInputStream().readNBytes(maxBytes + 1);
        if (body == null || body.length > maxBytes) {
            throw Refusal.oversized("A message has at most " + maxBytes + " bytes.");
        }
        StoredReceipt receipt = connector.call().apply(new Message(id, body));
        sent.get(way).increment();
        return answers.ok(new Told(receipt.id(), receipt.bytes(), receipt.stored(), way, node));
    }

    @Override
    public void refused(String reason) {
        rejected.get(reason).increment();
    }
}
