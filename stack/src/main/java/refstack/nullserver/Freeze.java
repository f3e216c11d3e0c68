package refstack.nullserver;

/**
 * One time at which the server stands still: it neither reads nor answers.
 *
 * @param afterNs  when, counted from the first request
 * @param lengthNs how long; 0 = never
 */
record Freeze(long afterNs, long lengthNs) {

    static final Freeze NEVER = new Freeze(0, 0);

    boolean isDue(long sinceFirstNs) {
        return lengthNs > 0 && sinceFirstNs >= afterNs;
    }
}
