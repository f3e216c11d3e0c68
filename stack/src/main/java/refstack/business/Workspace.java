package refstack.business;

import java.io.Serializable;
import java.util.SplittableRandom;
import java.util.zip.CRC32;

/**
 * What a session carries besides the work itself, such as layouts and selections of its user: bytes
 * that the user's number determines, so that a session that was moved can be told to be whole.
 */
final class Workspace implements Serializable {

    private static final long serialVersionUID = 1L;

    private final byte[] bytes;

    private Workspace(byte[] bytes) {
        this.bytes = bytes;
    }

    static Workspace of(int user, int size) {
        byte[] bytes = new byte[size];
        new SplittableRandom(user).nextBytes(bytes);
        return new Workspace(bytes);
    }

    /** Size and CRC-32, such as {@code 4096-1a2b3c4d}. */
    String digest() {
        CRC32 sum = new CRC32();
        sum.update(bytes);
        return "%d-%08x".formatted(bytes.length, sum.getValue());
    }
}
