package refstack.pages;

import org.springframework.web.util.HtmlUtils;

/** A part as HTML: a table of the rows that its query has left in the session. */
final class Display {

    private Display() {
    }

    static String html(String user, Result result) {
        Query query = Query.of(result.page(), result.part());
        StringBuilder html = new StringBuilder(4096);
        html.append("<section id=\"page-").append(result.page()).append("-part-")
                .append(result.part()).append("\" data-user=\"").append(HtmlUtils.htmlEscape(user))
                .append("\">\n<h2>").append(query.title()).append("</h2>\n<table>\n<tr>");
        query.columns().forEach(name -> html.append("<th>").append(name).append("</th>"));
        html.append("</tr>\n");
        result.rows().forEach(row -> {
            html.append("<tr>");
            row.forEach(value -> html.append("<td>")
                    .append(HtmlUtils.htmlEscape(String.valueOf(value))).append("</td>"));
            html.append("</tr>\n");
        });
        return html.append("</table>\n</section>\n").toString();
    }
}
