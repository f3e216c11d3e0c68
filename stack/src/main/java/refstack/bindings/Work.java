package refstack.bindings;

import java.io.Serializable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the receiver does with a payload, besides telling who it is.
 *
 * @param rounds      how often it adds the payload up: CPU time in proportion
 * @param pauseMillis how long it waits for a statement of the database that does nothing else,
 *                    with a connection of the pool; 0 = no statement
 * @param hasRow      whether it stores a row, in a transaction of its own
 */
record Work(int rounds, int pauseMillis, boolean hasRow) implements Serializable {

    /** What is done if nothing is said. */
    static final Work LEAST = new Work(1, 0, false);
    static final int MOST_ROUNDS = 100_000;
    static final int MOST_PAUSE_MILLIS = 60_000;
    static final String SYNTAX = "work must list some of rounds:1 to rounds:" + MOST_ROUNDS
            + ", pause:0 to pause:" + MOST_PAUSE_MILLIS + " (ms), row";

    private static final Pattern NUMBER = Pattern.compile("(rounds|pause):([0-9]{1,6})");

    Work {
        if (rounds < 1 || rounds > MOST_ROUNDS || pauseMillis < 0
                || pauseMillis > MOST_PAUSE_MILLIS) {
            throw new IllegalArgumentException(SYNTAX);
        }
    }

    /**
     * Reads {@code rounds:20,pause:5,row}, or a part of it; nothing at all is the least work.
     *
     * @throws IllegalArgumentException for anything else
     */
    static Work of(String text) {
        if (text == null || text.isEmpty()) {
            return LEAST;
        }
        int rounds = 1;
        int pause = 0;
        boolean hasRow = false;
        for (String word : text.split(",", -1)) {
            Matcher number = NUMBER.matcher(word);
            if (word.equals("row")) {
                hasRow = true;
            } else if (!number.matches()) {
                throw new IllegalArgumentException(SYNTAX);
            } else if (number.group(1).equals("rounds")) {
                rounds = Integer.parseInt(number.group(2));
            } else {
                pause = Integer.parseInt(number.group(2));
            }
        }
        return new Work(rounds, pause, hasRow);
    }

    /** What {@link #of} reads; empty for the least work. */
    String text() {
        return equals(LEAST) ? ""
                : "rounds:" + rounds + ",pause:" + pauseMillis + (hasRow ? ",row" : "");
    }

    boolean needsDatabase() {
        return hasRow || pauseMillis > 0;
    }
}
