package refstack.core;

import java.time.Duration;

/**
 * How many threads a pool may have, and for how long.
 *
 * @param threads threads that take work from the queue; 0 = no limit, and no queue
 * @param isGrown whether work that finds all of them busy gets a thread of its own at once, instead
 *                of a place in the queue
 * @param idle    how long a thread waits for work before it ends; 0 = those within the limit stay,
 *                those beyond it end with their work
 */
public record PoolLimits(int threads, boolean isGrown, Duration idle) {

    public PoolLimits {
        if (threads < 0 || idle.isNegative()) {
            throw new IllegalArgumentException("threads and idle time must be 0 or more");
        }
    }

    /** So many threads that stay; 0 = no limit. */
    public static PoolLimits of(int threads) {
        return new PoolLimits(threads, false, Duration.ZERO);
    }

    /** Whether work never waits for a thread. */
    public boolean isUnlimited() {
        return isGrown || threads == 0;
    }
}
