package refstack.business;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.util.HtmlUtils;

/**
 * An HTML page in the making. What a program shall find stands in {@code <output id="name">}, rows
 * of lists name what they are about in a data attribute.
 */
final class Page {

    private static final MediaType HTML = new MediaType("text", "html", StandardCharsets.UTF_8);
    private static final int USUAL_SIZE = 4096;
    private static final String STYLE = "<style>body{font:14px sans-serif;margin:2em}"
            + "nav a{margin-right:1em}table{border-collapse:collapse}"
            + "td,th{border:1px solid #ccc;padding:2px 8px;text-align:left}"
            + "dt{float:left;clear:left;width:10em}</style>";
    private static final String NAVIGATION = "<nav><a href=\"/business/customers\">Customers</a>"
            + "<a href=\"/business/items\">Items</a><a href=\"/business/draft\">Order in progress"
            + "</a><a href=\"/business/orders\">Open orders</a>"
            + "<a href=\"/business/report\">Sales report</a></nav>";

    private final StringBuilder html = new StringBuilder(USUAL_SIZE);
    private boolean isRepeated;

    private Page(String title) {
        html.append("<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>")
                .append(escape(title)).append("</title>").append(STYLE).append("</head>\n<body>\n")
                .append(NAVIGATION).append("\n<h1>").append(escape(title)).append("</h1>\n<dl>\n");
    }

    /** A page of a transaction that a node does for a user. */
    static Page of(BusinessTransaction transaction, Desk desk, String node) {
        return new Page(transaction.title())
                .output("page", transaction.label())
                .output("user", desk.user())
                .output("step", desk.step())
                .output("node", node);
    }

    /** The answer to a request that is not served. */
    static ResponseEntity<byte[]> problem(HttpStatus status, String problem, String detail) {
        Page page = new Page(status.getReasonPhrase()).output("problem", problem);
        page.html.append("</dl>\n<p>").append(escape(detail)).append("</p>\n<dl>");
        ResponseEntity.BodyBuilder answer = ResponseEntity.status(status);
        if (status == HttpStatus.SERVICE_UNAVAILABLE) {
            answer.header(HttpHeaders.RETRY_AFTER, "1");
        }
        return answer.contentType(HTML).body(page.bytes());
    }

    Page output(String name, long value) {
        return output(name, Long.toString(value));
    }

    /** A value with a name. */
    Page output(String name, String value) {
        html.append("<dt>").append(name).append("</dt><dd><output id=\"").append(name)
                .append("\">").append(escape(value)).append("</output></dd>\n");
        return this;
    }

    Page money(String name, long cents) {
        return output(name, Money.text(cents));
    }

    /** A value that is there to be read by people alone. */
    Page text(String name, String value) {
        html.append("<dt>").append(name).append("</dt><dd>").append(escape(value))
                .append("</dd>\n");
        return this;
    }

    /** Says whether a write was done before; such a page is counted as one of a repeated write. */
    Page repeated(boolean isDoneBefore) {
        isRepeated = isDoneBefore;
        return output("repeated", Boolean.toString(isDoneBefore));
    }

    boolean isRepeated() {
        return isRepeated;
    }

    /** A table whose rows are about {@code subject}, which the first value of each names. */
    Page table(String subject, List<String> columns, List<? extends List<?>> rows) {
        html.append("</dl>\n<table>\n<tr>");
        columns.forEach(column -> html.append("<th>").append(column).append("</th>"));
        html.append("</tr>\n");
        for (List<?> row : rows) {
            html.append("<tr data-").append(subject).append("=\"").append(row.get(0))
                    .append("\">");
            for (Object value : row) {
                html.append("<td>").append(escape(value.toString())).append("</td>");
            }
            html.append("</tr>\n");
        }
        html.append("</table>\n<dl>\n");
        return this;
    }

    ResponseEntity<byte[]> answer() {
        return ResponseEntity.ok().contentType(HTML).body(bytes());
    }

    private byte[] bytes() {
        return html.append("</dl>\n</body>\n</html>\n").toString()
                .getBytes(StandardCharsets.UTF_8);
    }

    private static String escape(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '<' || c == '>' || c == '&' || c == '"' || c == '\'') {
                return HtmlUtils.htmlEscape(text, "UTF-8");
            }
        }
        return text;
    }
}
