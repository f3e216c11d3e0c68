package refstack.disk;

import java.io.IOException;
import java.util.Locale;
import org.springframework.http.HttpStatus;
import refstack.answers.Refusal;

/** There is no room on the disk for a job; over HTTP this is status 507. */
class DiskFullException extends Refusal {

    private static final long serialVersionUID = 1L;

    DiskFullException(String message) {
        super(HttpStatus.INSUFFICIENT_STORAGE, "full", message);
    }

    /** Whether a failure means that; Java has no exception of its own for it. */
    static boolean isMeantBy(IOException failure) {
        return isMeantBy(String.valueOf(failure.getMessage()));
    }

    static boolean isMeantBy(String words) {
        String lower = words.toLowerCase(Locale.ROOT);
        return lower.contains("no space left") || lower.contains("disk quota exceeded");
    }
}
