package refstack.odata;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.apache.olingo.odata2.api.commons.HttpStatusCodes;
import org.apache.olingo.odata2.api.ep.EntityProvider;
import org.apache.olingo.odata2.api.exception.ODataException;
import org.apache.olingo.odata2.api.processor.ODataErrorContext;
import org.apache.olingo.odata2.api.processor.ODataResponse;
import refstack.core.Operation;

/**
 * One OData service as a servlet: turns the request into what {@link ODataEngine} takes and
 * writes its answer with a Content-Length. Only reads; any other method is 405.
 */
class ODataServlet extends HttpServlet {

    private static final long serialVersionUID = 1L;

    private final transient ODataEngine engine;

    ODataServlet(ODataEngine engine) {
        this.engine = engine;
    }

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        String path = resourcePath(request);
        Operation.name(request::setAttribute, operation(request.getServletPath(), path));
        ODataResponse answer;
        if (!"GET".equals(request.getMethod())) {
            response.setHeader("Allow", "GET");
            answer = error(HttpStatusCodes.METHOD_NOT_ALLOWED, "This service can only be read.");
        } else {
            answer = answer(request, path);
        }
        write(answer, response);
    }

    private ODataResponse answer(HttpServletRequest request, String path) throws IOException {
        try {
            return engine.answer(new ODataEngine.Get(serviceRoot(request), path,
                    request.getQueryString(), request.getHeader("Accept"), headers(request)));
        } catch (IllegalArgumentException e) {
            return error(HttpStatusCodes.BAD_REQUEST, "This is not a valid URI.");
        } catch (ODataException e) {
            throw new IOException(e);
        }
    }

    private static void write(ODataResponse answer, HttpServletResponse response)
            throws IOException {
        byte[] body = Bodies.bytes(answer);
        response.setStatus(answer.getStatus().getStatusCode());
        for (String name : answer.getHeaderNames()) {
            response.setHeader(name, answer.getHeader(name));
        }
        response.setContentLength(body.length);
        response.getOutputStream().write(body);
    }

    private static ODataResponse error(HttpStatusCodes status, String message) {
        ODataErrorContext context = new ODataErrorContext();
        context.setContentType("application/xml");
        context.setHttpStatus(status);
        context.setMessage(message);
        context.setLocale(Locale.ENGLISH);
        return ODataResponse.fromResponse(EntityProvider.writeErrorDocument(context))
                .contentHeader("application/xml").build();
    }

    private static URI serviceRoot(HttpServletRequest request) {
        String url = request.getRequestURL().toString();
        String server = url.substring(0, url.length() - request.getRequestURI().length());
        return URI.create(server + request.getServletPath() + "/");
    }

    /** What follows the service root, still percent-encoded: Olingo decodes it by segment. */
    private static String resourcePath(HttpServletRequest request) {
        String path = request.getRequestURI().substring(request.getServletPath().length());
        return path.startsWith("/") ? path.substring(1) : path;
    }

    /** Few names for the many paths: keys become {@code (key)}, unknown resources {@code other}. */
    static String operation(String servletPath, String path) {
        String collection = FlightModel.COLLECTION;
        String resource;
        if (path.isEmpty() || path.equals("$metadata") || path.equals(collection)) {
            resource = path;
        } else if (path.startsWith(collection + "(")) {
            int end = path.lastIndexOf(')');
            boolean isEntity = end == path.length() - 1;
            resource = collection + (isEntity ? "(key)" : "(key)/other");
        } else {
            resource = "other";
        }
        return servletPath + "/" + resource;
    }

    private static Map<String, List<String>> headers(HttpServletRequest request) {
        Map<String, List<String>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        for (String name : Collections.list(request.getHeaderNames())) {
            headers.put(name, Collections.list(request.getHeaders(name)));
        }
        return headers;
    }
}
