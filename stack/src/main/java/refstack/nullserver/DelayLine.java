package refstack.nullserver;

import java.io.IOException;
import java.util.PriorityQueue;

/**
 * Requests that were read and wait for their answer: each is answered as long after it was read as
 * the law says. Optionally the whole server stands still once. Used by the server's one thread,
 * which must come round all the time instead of sleeping: a timer of the system would be late by
 * tens of microseconds, this is late by one round.
 */
final class DelayLine {

    private final DelayLaw law;
    private final Freeze freeze;
    private final Timeline timeline;
    private final PriorityQueue<Waiting> waiting = new PriorityQueue<>();
    private long requests;
    private long firstReadNs;
    private boolean wasFrozen;

    DelayLine(DelayLaw law, Freeze freeze, Timeline timeline) {
        this.law = law;
        this.freeze = freeze;
        this.timeline = timeline;
    }

    /** Forgets what was: the next request is number 0, and the freeze is ahead again. */
    void begin() {
        requests = 0;
        wasFrozen = false;
        timeline.clear();
    }

    byte[] timeline() {
        return timeline.toBytes();
    }

    /** Takes a request that was read just now. */
    void add(Connection connection) {
        long nowNs = System.nanoTime();
        long number = requests++;
        if (number == 0) {
            firstReadNs = nowNs;
        }
        timeline.read(number, nowNs);
        waiting.add(new Waiting(nowNs + law.delayNs(number), number, connection));
    }

    /** Answers what is due; stands still instead while the server is to be frozen. */
    void advance() {
        long nowNs = System.nanoTime();
        if (requests > 0 && !wasFrozen && freeze.isDue(nowNs - firstReadNs)) {
            nowNs = standStill(nowNs);
        }
        Waiting first;
        while ((first = waiting.peek()) != null && first.dueNs() - nowNs <= 0) {
            waiting.remove();
            try {
                first.connection().answerLate();
            } catch (IOException e) {
                first.connection().close();
            }
            nowNs = System.nanoTime();
            timeline.answered(first.number(), nowNs);
        }
    }

    private long standStill(long beginNs) {
        wasFrozen = true;
        long endNs = beginNs;
        while (endNs - beginNs < freeze.lengthNs()) {
            Thread.onSpinWait();
            endNs = System.nanoTime();
        }
        timeline.frozen(beginNs, endNs);
        return endNs;
    }

    private record Waiting(long dueNs, long number, Connection connection)
            implements Comparable<Waiting> {
        @Override
        public int compareTo(Waiting other) {
            return dueNs == other.dueNs
                    ? Long.compare(number, other.number)
                    : Long.signum(dueNs - other.dueNs);
        }
    }
}
