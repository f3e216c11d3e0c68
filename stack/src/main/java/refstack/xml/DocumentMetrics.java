package refstack.xml;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import refstack.core.RefusedDocumentException.Reason;

/** The series {@code refstack_xml_*}. */
class DocumentMetrics {

    private static final double NANOS = 1e9;

    private final Map<String, OfWay> ways = new HashMap<>();
    private final Map<Reason, Counter> refused = new HashMap<>();

    /** What is counted of each way. */
    private record OfWay(Timer seconds, Counter cpu, Counter allocated, Counter in, Counter out,
            Counter stored, Counter duplicates) {
    }

    DocumentMetrics(List<Transformation> transformations, MeterRegistry registry) {
        for (Transformation each : transformations) {
            String way = each.way();
            ways.put(way, new OfWay(
                    Timer.builder("refstack.xml.transform").tag("way", way).register(registry),
                    counter(registry, "refstack.xml.cpu.seconds", way),
                    counter(registry, "refstack.xml.allocated.bytes", way),
                    counter(registry, "refstack.xml.in.bytes", way),
                    counter(registry, "refstack.xml.out.bytes", way),
                    counter(registry, "refstack.xml.stored", way),
                    counter(registry, "refstack.xml.duplicates", way)));
        }
        for (Reason reason : Reason.values()) {
            refused.put(reason, Counter.builder("refstack.xml.refused")
                    .tag("reason", reason.name().toLowerCase(Locale.ROOT)).register(registry));
        }
    }

    private static Counter counter(MeterRegistry registry, String name, String way) {
        return Counter.builder(name).tag("way", way).register(registry);
    }

    void transformed(String way, long nanos, long cpuNanos, long allocated, int in, int out) {
        OfWay one = ways.get(way);
        one.seconds.record(nanos, TimeUnit.NANOSECONDS);
        one.cpu.increment(cpuNanos / NANOS);
        one.allocated.increment(allocated);
        one.in.increment(in);
        one.out.increment(out);
    }

    void stored(String way, boolean isNew) {
        OfWay one = ways.get(way);
        (isNew ? one.stored : one.duplicates).increment();
    }

    void refused(Reason reason) {
        refused.get(reason).increment();
    }
}
