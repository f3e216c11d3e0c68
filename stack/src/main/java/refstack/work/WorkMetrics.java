package refstack.work;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The series {@code refstack_work_*}. */
class WorkMetrics {

    private static final double NANOS = 1e9;

    private final MeterRegistry registry;
    private final Map<Work, OfWork> works = new HashMap<>();
    private final Set<Work> seen = ConcurrentHashMap.newKeySet();

    /** What is counted of each piece of work. */
    private record OfWork(Counter requests, Counter seconds, Counter databaseSeconds, Counter rows,
            Counter statements) {
    }

    /** All counters are there from the beginning: the rise to a first reading is unseen. */
    WorkMetrics(List<Work> works, MeterRegistry registry) {
        this.registry = registry;
        for (Work work : works) {
            Tags tags = Tags.of("kind", work.kind().label(), "work", work.label());
            this.works.put(work, new OfWork(
                    registry.counter("refstack.work.requests", tags),
                    registry.counter("refstack.work.seconds", tags),
                    registry.counter("refstack.work.database.seconds", tags),
                    registry.counter("refstack.work.rows", tags),
                    registry.counter("refstack.work.statements", tags)));
        }
    }

    /** Counts a piece of work that was done, with the time that it took and that part of it. */
    void done(Work work, long nanos, MeasuredDatabase database) {
        OfWork one = works.get(work);
        one.requests.increment();
        one.seconds.increment(nanos / NANOS);
        one.databaseSeconds.increment(database.nanos() / NANOS);
        one.rows.increment(database.rows());
        one.statements.increment(database.statements());
        if (seen.add(work)) {
            first("refstack.work.first.seconds", work, nanos);
            first("refstack.work.first.database.seconds", work, database.nanos());
        }
    }

    /** How long the very first one took, for as long as the node lives. */
    private void first(String name, Work work, long nanos) {
        Gauge.builder(name, () -> nanos / NANOS).tag("work", work.label()).register(registry);
    }

    /** Counts a request that was not served. */
    void refused(String reason) {
        registry.counter("refstack.work.refused", "reason", reason).increment();
    }
}
