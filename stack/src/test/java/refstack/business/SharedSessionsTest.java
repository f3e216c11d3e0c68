package refstack.business;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.session.MapSession;
import org.springframework.session.MapSessionRepository;

/** Which sessions are read from the database again: those that are not in the node's memory. */
class SharedSessionsTest {

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final SessionsInMemory limit = new SessionsInMemory(0);
    private SharedSessions<MapSession> sessions;
    private String id;

    @BeforeEach
    void signOn() {
        sessions = new SharedSessions<>(new MapSessionRepository(new ConcurrentHashMap<>()), limit,
                new SessionCounts(registry));
        MapSession session = sessions.createSession();
        id = session.getId();
        sessions.save(session);
    }

    @Test
    void everyRequestReadsItsSessionWhereNoneIsKept() {
        request(3);
        assertThat(restored()).isEqualTo(3);
    }

    @Test
    void aSessionIsReadOnceWhereItIsKept() {
        limit.set(1);
        request(3);
        assertThat(restored()).isEqualTo(1);
    }

    @Test
    void nothingIsKeptAnyMoreWhenTheLimitIsSetToNone() {
        limit.set(1);
        request(2);
        limit.set(0);
        request(2);
        assertThat(restored()).isEqualTo(3);
    }

    private void request(int times) {
        for (int i = 0; i < times; i++) {
            sessions.save(sessions.findById(id));
        }
    }

    private double restored() {
        return registry.get("refstack.business.sessions.events").tag("event", "restored").counter()
                .count();
    }
}
