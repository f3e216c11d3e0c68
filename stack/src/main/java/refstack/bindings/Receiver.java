package refstack.bindings;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.zip.CRC32C;
import refstack.core.BackendUnavailableException;

/**
 * The component that every binding ends in: adds the payload up, does the work that it is asked
 * for, and tells where it was served.
 */
class Receiver {

    private static final int SENDERS = 10_000;

    private final String node;
    private final WorkDatabase database;
    private final MeterRegistry registry;
    private final Order order = new Order(SENDERS);
    private final Map<String, OfWay> ways = new ConcurrentHashMap<>();
    private final ThreadLocal<String> pool =
            ThreadLocal.withInitial(() -> poolOf(Thread.currentThread().getName()));

    /** What is counted of each way and pool. */
    private record OfWay(Counter payloads, Counter bytes) {
    }

    Receiver(String node, WorkDatabase database, MeterRegistry registry) {
        this.node = node;
        this.database = database;
        this.registry = registry;
        for (String way : List.of(QueueBinding.WAY, JmsBinding.WAY)) {
            oneWay(way, "done");
            oneWay(way, "failed");
            late(way);
        }
    }

    private Counter oneWay(String way, String outcome) {
        return registry.counter("refstack.bindings.one.way", "way", way, "outcome", outcome);
    }

    private Counter late(String way) {
        return registry.counter("refstack.bindings.late", "way", way);
    }

    /** Whether this receiver can do the work: not all nodes have a database. */
    boolean canDo(Work work) {
        return database.isThere() || !work.needsDatabase();
    }

    /**
     * Takes a payload that came in the given way.
     *
     * @throws BackendUnavailableException if its work needs the database, and that cannot be used
     */
    Reply receive(String way, Payload payload) {
        String servedBy = pool.get();
        OfWay counters = ways.computeIfAbsent(way + ' ' + servedBy,
                unused -> counters(way, servedBy));
        counters.payloads.increment();
        counters.bytes.increment(payload.body().length);
        long checksum = checksum(payload.body());
        for (int round = 1; round < payload.work().rounds(); round++) {
            if (checksum(payload.body()) != checksum) {
                throw new IllegalStateException("the payload changed while it was worked on");
            }
        }
        database.work(way, payload);
        return new Reply(payload.id(), payload.body().length, checksum,
                Thread.currentThread().getName(), servedBy, node);
    }

    /**
     * Takes a payload that nobody waits for; whether it was done is counted.
     *
     * @throws BackendUnavailableException if it was not done
     */
    void receiveOneWay(String way, Payload payload) {
        try {
            receive(way, payload);
        } catch (BackendUnavailableException e) {
            oneWay(way, "failed").increment();
            throw e;
        }
        if (order.isLate(payload.id())) {
            late(way).increment();
        }
        oneWay(way, "done").increment();
    }

    static long checksum(byte[] bytes) {
        CRC32C sum = new CRC32C();
        sum.update(bytes);
        return sum.getValue();
    }

    /** Threads are numbered within their pool; those of Tomcat's connectors are the pool web. */
    static String poolOf(String thread) {
        return thread.matches("http-nio-.*-exec-\\d+|tomcat-handler-\\d+") ? "web"
                : thread.replaceFirst("-\\d+$", "");
    }

    private OfWay counters(String way, String servedBy) {
        return new OfWay(
                registry.counter("refstack.bindings.received", "way", way, "pool", servedBy),
                registry.counter("refstack.bindings.received.bytes", "way", way, "pool",
                        servedBy));
    }
}
