package refstack.disk;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a job did in one direction.
 *
 * @param bytes       moved; 0 for syncs
 * @param operations  calls, each of one file or of at most a megabyte of it
 * @param seconds     in which this was done
 * @param waited      seconds of all operations together; more than {@code seconds} if several were
 *                    under way at a time
 * @param p50         median of an operation in seconds, NaN if there was none
 * @param p99         99th percentile of it
 * @param deviceBytes bytes that the system says it had to fetch from a disk; null if it says nothing
 */
record Done(long bytes, long operations, double seconds, double waited, double p50, double p99,
        Long deviceBytes) {

    static final double NANOS = 1e9;
    private static final double MEGA = 1e6;
    private static final double MILLI = 1e3;

    /** For the client; what is not known is null. */
    Map<String, Object> told() {
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("bytes", bytes);
        told.put("operations", operations);
        told.put("seconds", seconds);
        told.put("mbPerS", bytes > 0 && seconds > 0 ? bytes / seconds / MEGA : null);
        told.put("meanMs", operations > 0 ? MILLI * waited / operations : null);
        told.put("p50Ms", Double.isNaN(p50) ? null : MILLI * p50);
        told.put("p99Ms", Double.isNaN(p99) ? null : MILLI * p99);
        told.put("deviceBytes", deviceBytes);
        return told;
    }
}
