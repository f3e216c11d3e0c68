package refstack.xml;

import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.math.BigDecimal;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import refstack.answers.JsonAnswers;
import refstack.core.ConditionalOnApp;
import refstack.core.DocumentTransformation.Receipt;
import refstack.core.DocumentTransformation;
import refstack.core.Part;

/** Takes a document and has it transformed in the way that the path names. */
@RestController
@ConditionalOnApp(Part.XML)
class TransformController {

    private final DocumentTransformation documents;
    private final String node;
    private final JsonAnswers answers;

    TransformController(DocumentTransformation documents,
            @Value("${refstack.node.name}") String node, JsonAnswers answers) {
        this.documents = documents;
        this.node = node;
        this.answers = answers;
    }

    @PostMapping("/xml/transform/{way}")
    ResponseEntity<byte[]> transform(@PathVariable("way") String way,
            @RequestParam("id") String id, HttpServletRequest request) throws IOException {
        byte[] body = request.getInputStream().readNBytes(documents.maxBytes() + 1);
        Receipt receipt = documents.accept(id, way, body);
        return answers.ok(new Transformed(receipt.id(), receipt.way(), receipt.rows(),
                receipt.total(), receipt.bytesIn(), receipt.bytesOut(), receipt.sha256(),
                receipt.stored(), node));
    }

    private record Transformed(String id, String way, int rows, BigDecimal total, int bytesIn,
            int bytesOut, String sha256, boolean stored, String node) {
    }
}
