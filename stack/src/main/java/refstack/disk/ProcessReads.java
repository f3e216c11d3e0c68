package refstack.disk;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What the system says this process made it fetch from disks, where it says so. */
final class ProcessReads {

    private static final Path ACCOUNT = Path.of("/proc/self/io");
    private static final String LINE = "read_bytes: ";

    private ProcessReads() {
    }

    /** Bytes since the process began; null where there is no account of them. */
    static Long bytes() {
        try {
            for (String line : Files.readAllLines(ACCOUNT)) {
                if (line.startsWith(LINE)) {
                    return Long.valueOf(line.substring(LINE.length()).trim());
                }
            }
        } catch (IOException | NumberFormatException e) {
            // Another system, or a kernel without this account.
        }
        return null;
    }

    /** Bytes since an earlier reading; null if either is not known. */
    static Long since(Long before) {
        Long now = bytes();
        return before == null || now == null ? null : Long.valueOf(now - before);
    }
}
