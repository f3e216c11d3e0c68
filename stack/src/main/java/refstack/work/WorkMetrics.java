package refstack.work;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.http.HttpStatus;

/** The series {@code refstack_work_*}. */
class WorkMetrics {

    private static final double NANOS = 1e9;

    private final MeterRegistry registry;
    private final Set<String> seen = ConcurrentHashMap.newKeySet();

    WorkMetrics(MeterRegistry registry) {
        this.registry = registry;
    }

    /** Counts a piece of work that was done, with the time that it took and that part of it. */
    void done(Kind kind, String work, long nanos, MeasuredDatabase database) {
        Tags tags = Tags.of("kind", kind.label(), "work", work);
        registry.counter("refstack.work.requests", tags).increment();
        registry.counter("refstack.work.seconds", tags).increment(nanos / NANOS);
        registry.counter("refstack.work.database.seconds", tags)
                .increment(database.nanos() / NANOS);
        registry.counter("refstack.work.rows", tags).increment(database.rows());
        registry.counter("refstack.work.statements", tags).increment(database.statements());
        if (seen.add(work)) {
            first("refstack.work.first.seconds", work, nanos);
            first("refstack.work.first.database.seconds", work, database.nanos());
        }
    }

    /** How long the very first one of its kind took, for as long as the node lives. */
    private void first(String name, String work, long nanos) {
        Gauge.builder(name, () -> nanos / NANOS).tag("work", work).register(registry);
    }

    /** Counts a request that was not served. */
    void refused(HttpStatus status) {
        String reason = switch (status) {
            case BAD_REQUEST -> "malformed";
            case NOT_FOUND -> "unknown";
            case CONFLICT -> "ledger";
            default -> "unavailable";
        };
        registry.counter("refstack.work.refused", "reason", reason).increment();
    }
}
