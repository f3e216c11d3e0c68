package refstack.disk;

import java.util.Arrays;

/** Operations of one direction that were timed one by one. Not safe for several threads. */
class Tally {

    private long[] nanos = new long[256];
    private int count;
    private long bytes;
    private long totalNanos;

    /** Notes one operation. */
    void add(long took, long moved) {
        if (count == nanos.length) {
            nanos = Arrays.copyOf(nanos, 2 * count);
        }
        nanos[count++] = took;
        bytes += moved;
        totalNanos += took;
    }

    /** What was noted so far; {@code deviceBytes} of it came from a disk, null if not known. */
    Done done(Long deviceBytes) {
        long[] sorted = Arrays.copyOf(nanos, count);
        Arrays.sort(sorted);
        double seconds = totalNanos / Done.NANOS;
        return new Done(bytes, count, seconds, seconds, quantile(sorted, 0.5),
                quantile(sorted, 0.99), deviceBytes);
    }

    /** The least value that has at least this share of all at or below it, in seconds. */
    private static double quantile(long[] sorted, double share) {
        return sorted.length == 0 ? Double.NaN
                : sorted[Math.max(0, (int) Math.ceil(share * sorted.length) - 1)] / Done.NANOS;
    }
}
