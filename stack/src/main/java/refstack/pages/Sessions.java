package refstack.pages;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpSession;
import jakarta.servlet.http.HttpSessionBindingEvent;
import jakarta.servlet.http.HttpSessionBindingListener;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** Sessions of users: opened at login, ended by logout or by idleness, counted. */
class Sessions {

    private static final String VISIT = "refstack.visit";

    private final int timeoutSeconds;
    private final int max;
    private final AtomicInteger active = new AtomicInteger();
    private final Counter opened;
    private final Counter loggedOut;
    private final Counter timedOut;
    private final Counter refused;

    Sessions(Duration timeout, int max, MeterRegistry registry) {
        this.timeoutSeconds = (int) timeout.toSeconds();
        this.max = max;
        Gauge.builder("refstack.pages.sessions", active::get).tag("state", "active")
                .register(registry);
        Gauge.builder("refstack.pages.sessions", () -> max).tag("state", "limit")
                .register(registry);
        this.opened = registry.counter("refstack.pages.logins", "outcome", "accepted");
        this.refused = registry.counter("refstack.pages.logins", "outcome", "full");
        this.loggedOut = registry.counter("refstack.pages.sessions.ended", "reason", "logout");
        this.timedOut = registry.counter("refstack.pages.sessions.ended", "reason", "timeout");
    }

    /** What a session knows: its user, and the results of the page that the user sees. */
    static final class Visit implements HttpSessionBindingListener {

        private final Sessions sessions;
        private final String user;
        private final Result[] results = new Result[PageProperties.partsOf(1)];
        private boolean isLogout;

        Visit(Sessions sessions, String user) {
            this.sessions = sessions;
            this.user = user;
        }

        String user() {
            return user;
        }

        synchronized void keep(Result result) {
            results[result.part() - 1] = result;
        }

        /** The result of a part, or nothing if its query did not run since another page's. */
        synchronized Result result(int page, int part) {
            Result kept = results[part - 1];
            return kept != null && kept.page() == page ? kept : null;
        }

        @Override
        public void valueUnbound(HttpSessionBindingEvent event) {
            sessions.active.decrementAndGet();
            (isLogout ? sessions.loggedOut : sessions.timedOut).increment();
        }
    }

    /**
     * Opens a session; one that the client had before ends.
     *
     * @return false if there are as many as there may be
     */
    boolean open(HttpServletRequest request, String user) {
        end(request);
        if (active.incrementAndGet() > max) {
            active.decrementAndGet();
            refused.increment();
            return false;
        }
        HttpSession session = request.getSession(true);
        session.setMaxInactiveInterval(timeoutSeconds);
        session.setAttribute(VISIT, new Visit(this, user));
        opened.increment();
        return true;
    }

    /** The visit of the client's session, or nothing if it has none. */
    Visit visit(HttpServletRequest request) {
        HttpSession session = request.getSession(false);
        return session == null ? null : (Visit) session.getAttribute(VISIT);
    }

    /** Ends the client's session; false if it had none. */
    boolean end(HttpServletRequest request) {
        Visit visit = visit(request);
        if (visit == null) {
            return false;
        }
        visit.isLogout = true;
        request.getSession(false).invalidate();
        return true;
    }
}
