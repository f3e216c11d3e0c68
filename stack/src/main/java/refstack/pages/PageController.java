package refstack.pages;

import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Pattern;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import refstack.answers.JsonAnswers;
import refstack.answers.Refusal;
import refstack.core.ConditionalOnApp;
import refstack.core.DocumentTransformation.Receipt;
import refstack.core.DocumentTransformation;
import refstack.core.Part;

/** Sessions, pages and their parts, and documents that are sent in the background. */
@RestController
@ConditionalOnApp(Part.PAGES)
class PageController {

    private static final Pattern USER = Pattern.compile("[A-Za-z0-9._-]{1,32}");
    private static final MediaType HTML = new MediaType("text", "html", StandardCharsets.UTF_8);
    private static final String PART = "/pages/{page:[0-9]{1,6}}/parts/{part:[0-9]{1,6}}";

    private final Sessions sessions;
    private final PageQueries queries;
    private final PageProperties properties;
    private final ObjectProvider<DocumentTransformation> documents;
    private final String node;
    private final JsonAnswers answers;

    PageController(Sessions sessions, PageQueries queries, PageProperties properties,
            ObjectProvider<DocumentTransformation> documents,
            @Value("${refstack.node.name}") String node, JsonAnswers answers) {
        this.sessions = sessions;
        this.queries = queries;
        this.properties = properties;
        this.documents = documents;
        this.node = node;
        this.answers = answers;
    }

    @PostMapping("/pages/login")
    ResponseEntity<byte[]> login(@RequestParam("user") String user, HttpServletRequest request) {
        if (!USER.matcher(user).matches()) {
            throw new Refusal(HttpStatus.BAD_REQUEST, "", "A user's name must have 1 to 32 "
                    + "letters, digits, points, hyphens and underscores.");
        }
        if (!sessions.open(request, user)) {
            throw new Refusal(HttpStatus.SERVICE_UNAVAILABLE, "", "There are "
                    + properties.maxSessions() + " sessions, as many as there may be.");
        }
        return answers.ok(new LoggedIn(user, properties.count(), node));
    }

    @PostMapping("/pages/logout")
    ResponseEntity<byte[]> logout(HttpServletRequest request) {
        String user = visit(request).user();
        sessions.end(request);
        return answers.ok(new LoggedOut(user));
    }

    @GetMapping("/pages/{page:[0-9]{1,6}}")
    ResponseEntity<byte[]> page(@PathVariable("page") int page, HttpServletRequest request) {
        String user = visit(request).user();
        check(page, 1);
        return answers.ok(new Page(page, user, PageProperties.partsOf(page)));
    }

    @GetMapping(PART + "/query")
    ResponseEntity<byte[]> query(@PathVariable("page") int page, @PathVariable("part") int part,
            HttpServletRequest request) {
        Sessions.Visit visit = visit(request);
        check(page, part);
        Result result = queries.run(visit.user(), page, part);
        visit.keep(result);
        Query about = Query.of(page, part);
        return answers.ok(new Queried(page, part, visit.user(), about.title(), about.columns(),
                result.rows().size(), result.rows()));
    }

    @GetMapping(PART + "/display")
    ResponseEntity<byte[]> display(@PathVariable("page") int page, @PathVariable("part") int part,
            HttpServletRequest request) {
        Sessions.Visit visit = visit(request);
        String html = Display.html(visit.user(), kept(visit, page, part));
        return ResponseEntity.ok().contentType(HTML).body(html.getBytes(StandardCharsets.UTF_8));
    }

    @GetMapping(PART + "/data")
    ResponseEntity<byte[]> data(@PathVariable("page") int page, @PathVariable("part") int part,
            HttpServletRequest request) {
        Sessions.Visit visit = visit(request);
        byte[] chart = Chart.bytes(visit.user(), kept(visit, page, part),
                (int) properties.chart().toBytes());
        return ResponseEntity.ok().contentType(MediaType.APPLICATION_OCTET_STREAM).body(chart);
    }

    /** A document in the background; it needs no session. */
    @PostMapping("/pages/documents")
    ResponseEntity<byte[]> document(@RequestParam("id") String id, HttpServletRequest request)
            throws IOException {
        DocumentTransformation transformation = documents.getIfAvailable();
        if (transformation == null) {
            throw new Refusal(HttpStatus.NOT_FOUND, "",
                    "This node takes no documents: it lacks the part xml.");
        }
        byte[] body = request.getInputStream().readNBytes(transformation.maxBytes() + 1);
        Receipt receipt = transformation.accept(id, "xslt", body);
        return answers.ok(new Taken(receipt.id(), receipt.rows(), receipt.total(),
                receipt.sha256(), receipt.stored(), node));
    }

    private Sessions.Visit visit(HttpServletRequest request) {
        Sessions.Visit visit = sessions.visit(request);
        if (visit == null) {
            throw new Refusal(HttpStatus.UNAUTHORIZED, "",
                    "There is no session; POST /pages/login?user=... opens one.");
        }
        return visit;
    }

    private void check(int page, int part) {
        if (page < 1 || page > properties.count() || part < 1
                || part > PageProperties.partsOf(page)) {
            throw new Refusal(HttpStatus.NOT_FOUND, "", "There are pages 1 to "
                    + properties.count() + "; odd ones have 5 parts, even ones 4.");
        }
    }

    private Result kept(Sessions.Visit visit, int page, int part) {
        check(page, part);
        Result result = visit.result(page, part);
        if (result == null) {
            throw new Refusal(HttpStatus.CONFLICT, "",
                    "The session has no result of this part; ask for its query first.");
        }
        return result;
    }

    private record LoggedIn(String user, int pages, String node) {
    }

    private record LoggedOut(String user) {
    }

    private record Page(int page, String user, int parts) {
    }

    private record Queried(int page, int part, String user, String title, List<String> columns,
            int count, List<List<Object>> rows) {
    }

    private record Taken(String id, int rows, BigDecimal total, String sha256, boolean stored,
            String node) {
    }
}
