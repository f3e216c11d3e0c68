package refstack.disk;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The series {@code refstack_disk_*}. */
class DiskMetrics {

    private final MeterRegistry registry;
    private final MultiGauge latency;

    /** Every counter is there from the start: one that came up later could not be seen to rise. */
    DiskMetrics(MeterRegistry registry) {
        this.registry = registry;
        this.latency = MultiGauge.builder("refstack.disk.latency.seconds").register(registry);
        for (String set : FileSet.names()) {
            begin(set, EnumSet.allOf(Direction.class));
        }
        for (FioJob job : FioJob.values()) {
            begin(job.label(), job.directions());
        }
        Outcome.WAYS.forEach(how -> registry.counter("refstack.disk.runs", "how", how));
        sent(0, 0);
    }

    private void begin(String job, Set<Direction> directions) {
        registry.counter("refstack.disk.jobs", "job", job);
        Done nothing = new Done(0, 0, 0, 0, Double.NaN, Double.NaN, null);
        directions.forEach(direction -> count(tags(job, direction), nothing));
    }

    private static Tags tags(String job, Direction direction) {
        return Tags.of("job", job, "direction", direction.label());
    }

    /** Counts a job; of the one that ended last, the latencies are shown. */
    void done(String job, Outcome outcome) {
        registry.counter("refstack.disk.jobs", "job", job).increment();
        registry.counter("refstack.disk.runs", "how", outcome.how()).increment();
        List<MultiGauge.Row<?>> rows = new ArrayList<>();
        for (Map.Entry<Direction, Done> each : outcome.done().entrySet()) {
            Tags tags = tags(job, each.getKey());
            Done done = each.getValue();
            count(tags, done);
            rows.add(MultiGauge.Row.of(tags.and("quantile", "0.5"), done.p50()));
            rows.add(MultiGauge.Row.of(tags.and("quantile", "0.99"), done.p99()));
        }
        latency.register(rows, true);
    }

    /** Counts what was sent over the network, without a disk. */
    void sent(long bytes, long nanos) {
        registry.counter("refstack.disk.sent.bytes").increment(bytes);
        registry.counter("refstack.disk.sent.seconds").increment(nanos / Done.NANOS);
    }

    void refused(String reason) {
        registry.counter("refstack.disk.refused", "reason", reason).increment();
    }

    private void count(Tags tags, Done done) {
        count("bytes", tags, done.bytes());
        count("operations", tags, done.operations());
        count("seconds", tags, done.seconds());
        count("waited.seconds", tags, done.waited());
        if (done.deviceBytes() != null) {
            count("device.bytes", tags, done.deviceBytes());
        }
    }

    private void count(String name, Tags tags, double by) {
        registry.counter("refstack.disk." + name, tags).increment(by);
    }
}
