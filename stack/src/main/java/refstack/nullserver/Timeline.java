package refstack.nullserver;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * When requests were read and answered, in ns of {@link System#nanoTime}, which is CLOCK_MONOTONIC
 * on Linux. Room for the first {@code capacity} requests is made at the start: growing would stop
 * the server for milliseconds.
 */
final class Timeline {

    private static final int HEAD_LONGS = 3;

    private final long[] readNs;
    private final long[] answeredNs;
    private int count;
    private long freezeBeginNs;
    private long freezeEndNs;

    Timeline(int capacity) {
        readNs = new long[capacity];
        answeredNs = new long[capacity];
    }

    void clear() {
        count = 0;
        freezeBeginNs = 0;
        freezeEndNs = 0;
    }

    void read(long number, long timeNs) {
        if (number < readNs.length) {
            readNs[(int) number] = timeNs;
            answeredNs[(int) number] = 0;
            count = (int) number + 1;
        }
    }

    void answered(long number, long timeNs) {
        if (number < answeredNs.length) {
            answeredNs[(int) number] = timeNs;
        }
    }

    void frozen(long beginNs, long endNs) {
        freezeBeginNs = beginNs;
        freezeEndNs = endNs;
    }

    /**
     * Little-endian 64-bit numbers: begin and end of the freeze (0: there was none), the count,
     * then for each request when it was read and when it was answered (0: not yet).
     */
    byte[] toBytes() {
        ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES * (HEAD_LONGS + 2 * count))
                .order(ByteOrder.LITTLE_ENDIAN);
        bytes.putLong(freezeBeginNs).putLong(freezeEndNs).putLong(count);
        for (int i = 0; i < count; i++) {
            bytes.putLong(readNs[i]).putLong(answeredNs[i]);
        }
        return bytes.array();
    }
}
