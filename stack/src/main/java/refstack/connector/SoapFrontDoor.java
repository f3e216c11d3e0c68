package refstack.connector;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import refstack.core.Operation;

/**
 * What is done with a SOAP call before it is read: names its operation, counts the connections that
 * calls come over, and refuses a body that is too large or of unknown length.
 */
class SoapFrontDoor extends HttpFilter {

    private static final long serialVersionUID = 1L;
    /** Connections are remembered by their last use, as many as a server may have open. */
    private static final int REMEMBERED = 8192;

    private final long maxBytes;
    private final transient Counter opened;
    private final transient Counter refused;
    private final transient Map<String, Boolean> known = new LinkedHashMap<>(64, 0.75f, true) {

        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
            return size() > REMEMBERED;
        }
    };

    SoapFrontDoor(long maxBytes, MeterRegistry registry) {
        this.maxBytes = maxBytes;
        this.opened = Counter.builder("refstack.connector.connections").tag("protocol", "soap")
                .register(registry);
        this.refused = Counter.builder("refstack.connector.rejected").tag("reason", "oversized")
                .register(registry);
    }

    @Override
    protected void doFilter(HttpServletRequest request, HttpServletResponse response,
            FilterChain chain) throws IOException, ServletException {
        Operation.name(request::setAttribute, "/soap" + SoapServer.PATH);
        if (isNew(request.getServletConnection().getConnectionId())) {
            opened.increment();
        }
        long length = request.getContentLengthLong();
        if (length > maxBytes) {
            refused.increment();
            response.sendError(HttpServletResponse.SC_REQUEST_ENTITY_TOO_LARGE);
        } else if (length < 0 && "POST".equals(request.getMethod())) {
            response.sendError(HttpServletResponse.SC_LENGTH_REQUIRED);
        } else {
            chain.doFilter(request, response);
        }
    }

    private boolean isNew(String connection) {
        synchronized (known) {
            return known.put(connection, Boolean.TRUE) == null;
        }
    }
}
