package refstack.xml;

import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.dao.DataAccessException;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import refstack.core.ConditionalOnPart;
import refstack.core.ConditionalOnRole;
import refstack.core.DocumentTransformation;
import refstack.core.DocumentTransformation.Receipt;
import refstack.core.Part;
import refstack.core.RefusedDocumentException;
import refstack.core.RefusedDocumentException.Reason;
import refstack.core.Role;
import refstack.core.UnknownWayException;
import tools.jackson.databind.json.JsonMapper;

/** Takes a document and has it transformed in the way that the path names. */
@RestController
@ConditionalOnRole(Role.APP)
@ConditionalOnPart(Part.XML)
class TransformController {

    private static final Logger LOGGER = LoggerFactory.getLogger(TransformController.class);

    private final DocumentTransformation documents;
    private final String node;
    private final JsonMapper json;

    TransformController(DocumentTransformation documents,
            @Value("${refstack.node.name}") String node, JsonMapper json) {
        this.documents = documents;
        this.node = node;
        this.json = json;
    }

    @PostMapping("/xml/transform/{way}")
    ResponseEntity<byte[]> transform(@PathVariable("way") String way,
            @RequestParam("id") String id, HttpServletRequest request) throws IOException {
        byte[] body = request.getInputStream().readNBytes(documents.maxBytes() + 1);
        Receipt receipt = documents.accept(id, way, body);
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("id", receipt.id());
        answer.put("way", receipt.way());
        answer.put("rows", receipt.rows());
        answer.put("total", receipt.total());
        answer.put("bytesIn", receipt.bytesIn());
        answer.put("bytesOut", receipt.bytesOut());
        answer.put("sha256", receipt.sha256());
        answer.put("stored", receipt.stored());
        answer.put("node", node);
        return answer(HttpStatus.OK, answer);
    }

    @ExceptionHandler
    ResponseEntity<byte[]> refused(RefusedDocumentException failure) {
        return problem(failure.reason() == Reason.SIZE ? HttpStatus.CONTENT_TOO_LARGE
                : HttpStatus.BAD_REQUEST, failure.getMessage());
    }

    @ExceptionHandler
    ResponseEntity<byte[]> malformed(IllegalArgumentException failure) {
        return problem(HttpStatus.BAD_REQUEST, failure.getMessage());
    }

    @ExceptionHandler
    ResponseEntity<byte[]> unknown(UnknownWayException failure) {
        return problem(HttpStatus.NOT_FOUND, failure.getMessage());
    }

    @ExceptionHandler
    ResponseEntity<byte[]> unavailable(DataAccessException failure) {
        LOGGER.warn("document not stored: {}", failure.getMostSpecificCause().getMessage());
        return problem(HttpStatus.SERVICE_UNAVAILABLE, "The database did not store the row.");
    }

    private ResponseEntity<byte[]> problem(HttpStatus status, String detail) {
        return answer(status, Map.of("status", status.value(), "title", status.getReasonPhrase(),
                "detail", detail));
    }

    private ResponseEntity<byte[]> answer(HttpStatus status, Object body) {
        ResponseEntity.BodyBuilder answer = ResponseEntity.status(status)
                .contentType(MediaType.APPLICATION_JSON);
        if (status == HttpStatus.SERVICE_UNAVAILABLE) {
            answer.header(HttpHeaders.RETRY_AFTER, "1");
        }
        return answer.body(json.writeValueAsBytes(body));
    }
}
