package refstack.business;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import refstack.core.TunableLimit;

/** Lets so many transactions work at a time; others wait for their turn, in order of arrival. */
class Workers implements TunableLimit {

    private static final String NAME = "refstack.business.workers";

    private final Places places = new Places();
    private int limit;

    /**
     * Makes the workers.
     *
     * @param limit how many; 0 = no limit
     */
    Workers(int limit, MeterRegistry registry) {
        set(limit);
        gauge("busy", () -> most() - places.availablePermits(), registry);
        gauge("waiting", places::getQueueLength, registry);
        gauge("limit", this::value, registry);
    }

    /** What work takes its turn for; there may be fewer than are taken. */
    private static final class Places extends Semaphore {

        private static final long serialVersionUID = 1L;

        Places() {
            super(Integer.MAX_VALUE, true);
        }

        void change(int by) {
            if (by < 0) {
                reducePermits(-by);
            } else {
                release(by);
            }
        }
    }

    private static void gauge(String state, Supplier<Number> value, MeterRegistry registry) {
        Gauge.builder(NAME, value).tag("state", state).register(registry);
    }

    private static int most(int limit) {
        return limit == 0 ? Integer.MAX_VALUE : limit;
    }

    private synchronized int most() {
        return most(limit);
    }

    @Override
    public String name() {
        return "business_workers";
    }

    @Override
    public synchronized int value() {
        return limit;
    }

    @Override
    public final synchronized void set(int value) {
        if (value < 0) {
            throw new IllegalArgumentException(name() + " takes 0 or more");
        }
        places.change(most(value) - most(limit));
        limit = value;
    }

    /** Does a piece of work when its turn has come. */
    <T> T work(Supplier<T> piece) {
        places.acquireUninterruptibly();
        try {
            return piece.get();
        } finally {
            places.release();
        }
    }
}
