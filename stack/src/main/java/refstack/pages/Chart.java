package refstack.pages;

import java.nio.ByteBuffer;
import java.util.SplittableRandom;

/**
 * Binary data of a part's chart, the same for the same user, page and part: {@code RCHT}, page,
 * part, rows of the query, hash of the user's name, then a random walk of 4-byte floats. Numbers
 * are big-endian integers of 4 bytes.
 */
final class Chart {

    private static final int MAGIC = 0x52434854;

    private Chart() {
    }

    static byte[] bytes(String user, Result result, int size) {
        ByteBuffer chart = ByteBuffer.allocate(size);
        chart.putInt(MAGIC).putInt(result.page()).putInt(result.part())
                .putInt(result.rows().size()).putInt(user.hashCode());
        SplittableRandom random = new SplittableRandom(
                user.hashCode() * 31L * 31L + result.page() * 31L + result.part());
        float value = 0;
        while (chart.remaining() >= Float.BYTES) {
            value += (float) (random.nextDouble() - 0.5);
            chart.putFloat(value);
        }
        return chart.array();
    }
}
