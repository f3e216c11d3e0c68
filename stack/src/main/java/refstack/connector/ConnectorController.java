package refstack.connector;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import refstack.answers.JsonAnswers;
import refstack.core.BackendTimeoutException;
import refstack.core.BackendUnavailableException;
import refstack.core.ConditionalOnPart;
import refstack.core.ConditionalOnRole;
import refstack.core.Part;
import refstack.core.Role;
import tools.jackson.databind.json.JsonMapper;

/** Takes a message and hands it to the back end in the way that the path names. */
@RestController
@ConditionalOnRole(Role.APP)
@ConditionalOnPart(Part.CONNECTORS)
class ConnectorController {

    private static final List<String> REASONS =
            List.of("unknown", "malformed", "oversized", "late", "unavailable");

    private final Map<String, Connector> connectors;
    private final int maxBytes;
    private final String node;
    private final JsonAnswers answers;
    private final Map<String, Counter> sent = new HashMap<>();
    private final Map<String, Counter> rejected = new HashMap<>();

    ConnectorController(List<Connector> connectors, ConnectorProperties properties,
            @Value("${refstack.node.name}") String node, JsonMapper json,
            MeterRegistry registry) {
        this.connectors = connectors.stream()
                .collect(Collectors.toMap(Connector::way, Function.identity()));
        this.maxBytes = Math.toIntExact(properties.maxBody().toBytes());
        this.node = node;
        this.answers = new JsonAnswers(json);
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
            return refused("unknown", HttpStatus.NOT_FOUND,
                    "There is no such way to the back end; there are "
                    + String.join(", ", connectors.keySet().stream().sorted().toList()) + ".");
        }
        byte[] body = request.getContentLengthLong() > maxBytes ? null
                : request.getInputStream().readNBytes(maxBytes + 1);
        if (body == null || body.length > maxBytes) {
            return refused("oversized", HttpStatus.CONTENT_TOO_LARGE,
                    "A message has at most " + maxBytes + " bytes.");
        }
        StoredReceipt receipt = connector.call().apply(new Message(id, body));
        sent.get(way).increment();
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("id", receipt.id());
        told.put("bytes", receipt.bytes());
        told.put("stored", receipt.stored());
        told.put("way", way);
        told.put("node", node);
        return answers.of(HttpStatus.OK, told);
    }

    @ExceptionHandler
    ResponseEntity<byte[]> malformed(IllegalArgumentException failure) {
        return refused("malformed", HttpStatus.BAD_REQUEST, failure.getMessage());
    }

    @ExceptionHandler
    ResponseEntity<byte[]> late(BackendTimeoutException failure) {
        return refused("late", HttpStatus.GATEWAY_TIMEOUT, failure.getMessage());
    }

    @ExceptionHandler
    ResponseEntity<byte[]> unavailable(BackendUnavailableException failure) {
        return refused("unavailable", HttpStatus.SERVICE_UNAVAILABLE, failure.getMessage());
    }

    private ResponseEntity<byte[]> refused(String reason, HttpStatus status, String detail) {
        rejected.get(reason).increment();
        return answers.problem(status, detail);
    }
}
