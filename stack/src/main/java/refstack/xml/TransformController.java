package refstack.xml;

import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.dao.DataAccessException;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import refstack.answers.JsonAnswers;
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
    private final JsonAnswers answers;

    TransformController(DocumentTransformation documents,
            @Value("${refstack.node.name}") String node, JsonMapper json) {
        this.documents = documents;
        this.node = node;
        this.answers = new JsonAnswers(json);
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
        return answers.of(HttpStatus.OK, answer);
    }

    @ExceptionHandler
    ResponseEntity<byte[]> refused(RefusedDocumentException failure) {
        return answers.problem(failure.reason() == Reason.SIZE ? HttpStatus.CONTENT_TOO_LARGE
                : HttpStatus.BAD_REQUEST, failure.getMessage());
    }

    @ExceptionHandler
    ResponseEntity<byte[]> malformed(IllegalArgumentException failure) {
        return answers.problem(HttpStatus.BAD_REQUEST, failure.getMessage());
    }

    @ExceptionHandler
    ResponseEntity<byte[]> unknown(UnknownWayException failure) {
        return answers.problem(HttpStatus.NOT_FOUND, failure.getMessage());
    }

    @ExceptionHandler
    ResponseEntity<byte[]> unavailable(DataAccessException failure) {
        LOGGER.warn("document not stored: {}", failure.getMostSpecificCause().getMessage());
        return answers.problem(HttpStatus.SERVICE_UNAVAILABLE, "The database did not store the row.");
    }
}
