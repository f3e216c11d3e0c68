package refstack.work;

import java.util.Locale;

/** Who waits for a piece of work. */
enum Kind {

    /** A user at a screen. */
    DIALOGUE,

    /** Nobody: a job. */
    BACKGROUND;

    /** The name as it is written in metrics. */
    String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
