package refstack.business;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import refstack.TestDatabase;
import refstack.load.LoadForTests;

/** Sessions that ran out leave the database, and are counted. */
class ExpiredSessionsTest {

    private static final long NOW = 1_000_000;

    @Test
    void theyAreRemovedWithWhatTheyHad() throws Exception {
        String url = TestDatabase.emptyUrl("expired_sessions");
        LoadForTests.loadBusiness(url, 10);
        JdbcTemplate database =
                new JdbcTemplate(new DriverManagerDataSource(url, "postgres", ""));
        session(database, "old", NOW - 1);
        session(database, "new", NOW + 1);
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        ExpiredSessions sessions = new ExpiredSessions(database, new SessionCounts(registry),
                Clock.fixed(Instant.ofEpochMilli(NOW), ZoneOffset.UTC), 3600);
        sessions.remove();
        sessions.destroy();
        assertThat(database.queryForList("select trim(primary_id) from business_session",
                String.class)).containsExactly("new");
        assertThat(database.queryForList(
                "select trim(session_primary_id) from business_session_attributes", String.class))
                .containsExactly("new");
        assertThat(registry.get("refstack.business.sessions.events").tag("event", "expired")
                .functionCounter().count()).isEqualTo(1);
    }

    private static void session(JdbcTemplate database, String id, long expiry) {
        database.update("insert into business_session values (?, ?, 0, 0, 60, ?, null)", id, id,
                expiry);
        database.update("insert into business_session_attributes values (?, 'desk', '\\x00')", id);
    }
}
