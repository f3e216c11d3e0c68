package refstack.business;

import jakarta.servlet.ServletContext;
import jakarta.servlet.SessionCookieConfig;
import jakarta.servlet.http.HttpSessionEvent;
import jakarta.servlet.http.HttpSessionListener;
import java.util.concurrent.atomic.AtomicLong;
import org.springframework.boot.web.servlet.ServletContextInitializer;

/** Sessions as the web server has them, in the memory of the node: named and counted. */
class MemorySessions implements ServletContextInitializer, HttpSessionListener {

    private final SessionCounts counts;
    private final AtomicLong inMemory = new AtomicLong();

    MemorySessions(SessionCounts counts) {
        this.counts = counts;
        counts.inMemory(inMemory::get);
    }

    @Override
    public void onStartup(ServletContext context) {
        SessionCookieConfig cookie = context.getSessionCookieConfig();
        cookie.setName(Desks.COOKIE);
        cookie.setHttpOnly(true);
        cookie.setAttribute("SameSite", "Lax");
        context.addListener(this);
    }

    @Override
    public void sessionCreated(HttpSessionEvent event) {
        inMemory.incrementAndGet();
    }

    @Override
    public void sessionDestroyed(HttpSessionEvent event) {
        inMemory.decrementAndGet();
        if (event.getSession().getAttribute(Desks.ENDED) == null) {
            counts.expired(1);
        }
    }
}
