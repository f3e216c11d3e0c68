package refstack.business;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.List;
import org.springframework.session.web.http.HttpSessionIdResolver;

/**
 * Tells the session's id of a request once. The session filter asks again after it has saved the
 * session and sent the answer, and then reads the session a second time for nothing.
 */
final class OneLook implements HttpSessionIdResolver {

    private static final String LOOKED = OneLook.class.getName();

    private final HttpSessionIdResolver resolver;

    OneLook(HttpSessionIdResolver resolver) {
        this.resolver = resolver;
    }

    @Override
    public List<String> resolveSessionIds(HttpServletRequest request) {
        if (request.getAttribute(LOOKED) != null) {
            return List.of();
        }
        request.setAttribute(LOOKED, true);
        return resolver.resolveSessionIds(request);
    }

    @Override
    public void setSessionId(HttpServletRequest request, HttpServletResponse response, String id) {
        if (!response.isCommitted()) {
            resolver.setSessionId(request, response, id);
        }
    }

    @Override
    public void expireSession(HttpServletRequest request, HttpServletResponse response) {
        resolver.expireSession(request, response);
    }
}
