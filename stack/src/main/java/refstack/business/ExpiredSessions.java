package refstack.business;

import java.time.Clock;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import refstack.core.NamedThreads;

/** Removes sessions that ran out from the database, whichever node made them, and counts them. */
class ExpiredSessions implements DisposableBean {

    private static final Logger LOGGER = LoggerFactory.getLogger(ExpiredSessions.class);

    private final JdbcTemplate database;
    private final SessionCounts counts;
    private final Clock clock;
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(
            NamedThreads.of("expired-sessions"));

    ExpiredSessions(JdbcTemplate database, SessionCounts counts, Clock clock, long periodSeconds) {
        this.database = database;
        this.counts = counts;
        this.clock = clock;
        thread.scheduleWithFixedDelay(this::remove, periodSeconds, periodSeconds,
                TimeUnit.SECONDS);
    }

    void remove() {
        try {
            counts.expired(database.update(
                    "delete from business_session where expiry_time < ?", clock.millis()));
        } catch (DataAccessException e) {
            LOGGER.warn("sessions that ran out stay: {}", e.getMostSpecificCause().getMessage());
        }
    }

    @Override
    public void destroy() {
        thread.shutdownNow();
    }
}
