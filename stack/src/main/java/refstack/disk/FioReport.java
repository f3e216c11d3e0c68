package refstack.disk;

import java.util.EnumMap;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/**
 * What fio reports of its one job ({@code --output-format=json}): counts, milliseconds of run time
 * and nanoseconds of latency. A write that is followed by a sync is two operations; the time of
 * both is in the run time of writing.
 */
final class FioReport {

    private static final double MILLIS = 1e3;

    private FioReport() {
    }

    static Map<Direction, Done> of(JsonNode report, FioJob job) {
        JsonNode only = report.path("jobs").path(0);
        Map<Direction, Done> done = new EnumMap<>(Direction.class);
        for (Direction direction : job.directions()) {
            done.put(direction, direction == Direction.SYNC ? syncs(only.path("sync"))
                    : moved(only.path(direction.label())));
        }
        return done;
    }

    private static Done moved(JsonNode node) {
        long operations = node.path("total_ios").asLong(0);
        JsonNode latency = node.path("clat_ns");
        return new Done(node.path("io_bytes").asLong(0), operations,
                node.path("runtime").asLong(0) / MILLIS, waited(latency, operations),
                percentile(latency, "50.000000"), percentile(latency, "99.000000"), null);
    }

    private static Done syncs(JsonNode node) {
        JsonNode latency = node.path("lat_ns");
        // Not "total_ios": fio 3.33 leaves that of syncs at 0 in runs of less than a second.
        long operations = latency.path("N").asLong(0);
        double waited = waited(latency, operations);
        return new Done(0, operations, waited, waited, percentile(latency, "50.000000"),
                percentile(latency, "99.000000"), null);
    }

    private static double waited(JsonNode latency, long operations) {
        return operations * latency.path("mean").asDouble(0) / Done.NANOS;
    }

    private static double percentile(JsonNode latency, String name) {
        JsonNode value = latency.path("percentile").path(name);
        return value.isNumber() ? value.asDouble() / Done.NANOS : Double.NaN;
    }
}
