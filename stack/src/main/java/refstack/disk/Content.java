package refstack.disk;

import java.nio.ByteBuffer;
import java.util.SplittableRandom;

/**
 * Bytes of files, from a seed: they do not compress, and each piece of each file begins at another
 * place of one block, so that a piece at the wrong place is found out.
 */
class Content {

    static final int PIECE = 1 << 20;
    private static final int SHIFT = 4099;

    private final ByteBuffer block = ByteBuffer.allocateDirect(2 * PIECE);

    Content(long seed) {
        byte[] bytes = new byte[block.capacity()];
        new SplittableRandom(seed).nextBytes(bytes);
        block.put(bytes);
    }

    /** So many bytes of a piece, at most {@link #PIECE}. */
    ByteBuffer piece(int file, long number, int length) {
        int start = (int) Math.floorMod(file + SHIFT * number, (long) PIECE);
        return block.slice(start, length).asReadOnlyBuffer();
    }
}
