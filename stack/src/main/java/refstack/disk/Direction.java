package refstack.disk;

import java.util.Locale;

/** What is done with bytes; the tag {@code direction} of the metrics. */
enum Direction {

    /** Given to the system, which keeps them in its page cache. */
    WRITE,

    /** Forced out of that cache to the disk. */
    SYNC,

    /** Read past the page cache (direct I/O), or as fio was asked to. */
    READ,

    /** Read once more, through the page cache. */
    REREAD;

    String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
