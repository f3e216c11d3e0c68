package refstack.answers;

import java.time.Duration;

/** A controller that counts what it refuses, or says when to come again. */
public interface Refuses {

    /** Counts a refusal by its word. */
    void refused(String reason);

    /** After how long whoever is turned away for now may come again. */
    default Duration retryAfter() {
        return Duration.ofSeconds(1);
    }
}
