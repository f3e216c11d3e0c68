package refstack.business;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** What becomes of sessions, by the node's own account. */
class SessionCounts {

    private static final String EVENTS = "refstack.business.sessions.events";

    private final MeterRegistry registry;
    private final Counter created;
    private final Counter ended;
    private final Counter missed;
    private final Counter restored;
    private final AtomicLong expired = new AtomicLong();

    SessionCounts(MeterRegistry registry) {
        this.registry = registry;
        this.created = counter("created");
        this.ended = counter("ended");
        this.missed = counter("missed");
        this.restored = counter("restored");
        FunctionCounter.builder(EVENTS, expired, AtomicLong::get).tag("event", "expired")
                .register(registry);
    }

    private Counter counter(String event) {
        return registry.counter(EVENTS, "event", event);
    }

    /** Shows how many sessions the node has in memory. */
    void inMemory(LongSupplier number) {
        Gauge.builder("refstack.business.sessions", number::getAsLong).tag("state", "memory")
                .register(registry);
    }

    void created() {
        created.increment();
    }

    /** A user signed off, or on again. */
    void ended() {
        ended.increment();
    }

    /** Some ran out. */
    void expired(int number) {
        expired.addAndGet(number);
    }

    /** A cookie came whose session is not to be found. */
    void missed() {
        missed.increment();
    }

    /** A session was read from the database. */
    void restored() {
        restored.increment();
    }
}
