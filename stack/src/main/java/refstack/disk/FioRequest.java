package refstack.disk;

import java.util.Set;

/**
 * What fio is asked for.
 *
 * @param job           which of the job files
 * @param bytes         size of the file that it works in
 * @param runtimeMillis how long, in milliseconds; sequential jobs end with their file
 * @param engine        way to the kernel: {@code libaio}, {@code io_uring}, {@code psync}
 * @param direct        whether past the page cache
 * @param depth         operations under way at a time
 */
record FioRequest(FioJob job, long bytes, int runtimeMillis, String engine, boolean direct,
        int depth) {

    /** The engine that every host has: one call of the system after the other. */
    static final String PLAIN = "psync";
    static final Set<String> ENGINES = Set.of("libaio", "io_uring", PLAIN);
    private static final long LEAST = 1 << 20;
    private static final int MAX_MILLIS = 600_000;
    private static final int MAX_DEPTH = 1024;

    FioRequest {
        if (!ENGINES.contains(engine)) {
            throw new IllegalArgumentException(
                    "engine must be one of libaio, io_uring and psync.");
        }
        if (bytes < LEAST) {
            throw new IllegalArgumentException("bytes must be 1048576 or more.");
        }
        if (runtimeMillis < 1 || runtimeMillis > MAX_MILLIS || depth < 1 || depth > MAX_DEPTH) {
            throw new IllegalArgumentException("runtime-ms must be from 1 to " + MAX_MILLIS
                    + ", depth from 1 to " + MAX_DEPTH + ".");
        }
    }

    /** The same with another way to the disk; the plain engine has one operation under way. */
    FioRequest by(String other, boolean past) {
        return new FioRequest(job, bytes, runtimeMillis, other, past,
                other.equals(PLAIN) ? 1 : depth);
    }

    /** The way to the disk in words of the metrics. */
    String how() {
        return how(engine, direct);
    }

    static String how(String engine, boolean direct) {
        return engine + (direct ? " direct" : " cached");
    }
}
