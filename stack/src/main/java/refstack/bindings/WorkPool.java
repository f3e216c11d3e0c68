package refstack.bindings;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToDoubleFunction;
import refstack.core.NamedThreads;
import refstack.core.PoolLimits;
import refstack.core.TunablePool;
import refstack.core.VirtualThreads;

/**
 * So many threads behind a queue of so many places; what comes beyond that is turned away, or waits
 * if it may. A pool without a limit has no queue.
 *
 * <p>It counts the work that is done, how long that waited for a thread and how long it took, so
 * that Little's law can be checked: the threads at work are the rate times the time of the work.
 */
class WorkPool implements TunablePool, AutoCloseable {

    private static final double NANOS = 1e9;

    private final String name;
    private final int capacity;
    private final ThreadFactory factory;
    private final AtomicInteger taken = new AtomicInteger();
    private final AtomicInteger active = new AtomicInteger();
    private final LongAdder started = new LongAdder();
    private final LongAdder done = new LongAdder();
    private final LongAdder waitedNanos = new LongAdder();
    private final LongAdder workedNanos = new LongAdder();
    private final Counter rejected;
    private volatile Crew crew;

    /** The threads of certain limits, and what these let in. */
    private record Crew(PoolLimits limits, ThreadPoolExecutor threads, Semaphore places) {
    }

    /** A pool of platform threads, all of which stay. */
    WorkPool(String name, int threads, int capacity, MeterRegistry registry) {
        this(name, PoolLimits.of(threads), capacity, false, registry);
    }

    WorkPool(String name, PoolLimits limits, int capacity, boolean isVirtual,
            MeterRegistry registry) {
        this.name = name;
        this.capacity = capacity;
        ThreadFactory made = isVirtual ? VirtualThreads.factory(name + '-') : NamedThreads.of(name);
        this.factory = work -> {
            started.increment();
            return made.newThread(work);
        };
        this.crew = hire(limits);
        gauge("active", registry, pool -> pool.active.get());
        gauge("queued", registry, pool -> Math.max(0, pool.taken.get() - pool.active.get()));
        gauge("limit", registry, pool -> pool.limits().isUnlimited() ? Double.NaN
                : pool.limits().threads());
        gauge("threads", registry, pool -> pool.crew.threads.getPoolSize());
        gauge("largest", registry, pool -> pool.crew.threads.getLargestPoolSize());
        counter("started", registry, pool -> pool.started.sum());
        counter("done", registry, pool -> pool.done.sum());
        counter("waited.seconds", registry, pool -> pool.waitedNanos.sum() / NANOS);
        counter("worked.seconds", registry, pool -> pool.workedNanos.sum() / NANOS);
        this.rejected = Counter.builder("refstack.bindings.pool.rejected").tag("pool", name)
                .register(registry);
    }

    private void gauge(String what, MeterRegistry registry, ToDoubleFunction<WorkPool> value) {
        Gauge.builder("refstack.bindings.pool." + what, this, value).tag("pool", name)
                .register(registry);
    }

    private void counter(String what, MeterRegistry registry, ToDoubleFunction<WorkPool> value) {
        FunctionCounter.builder("refstack.bindings.pool." + what, this, value).tag("pool", name)
                .register(registry);
    }

    private Crew hire(PoolLimits limits) {
        boolean isUnlimited = limits.isUnlimited();
        BlockingQueue<Runnable> queue =
                isUnlimited ? new SynchronousQueue<>() : new LinkedBlockingQueue<>();
        ThreadPoolExecutor threads = new ThreadPoolExecutor(limits.threads(),
                isUnlimited ? Integer.MAX_VALUE : limits.threads(),
                limits.idle().toNanos(), TimeUnit.NANOSECONDS, queue, factory);
        threads.allowCoreThreadTimeOut(!limits.idle().isZero());
        int places = isUnlimited ? Integer.MAX_VALUE
                : (int) Math.min(Integer.MAX_VALUE, (long) limits.threads() + capacity);
        return new Crew(limits, threads, new Semaphore(places));
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public PoolLimits limits() {
        return crew.limits;
    }

    @Override
    public synchronized void resize(PoolLimits limits) {
        Crew before = crew;
        crew = hire(limits);
        before.threads.shutdown();
    }

    /**
     * Runs the work in a thread of the pool, later if none is free.
     *
     * @throws PoolFullException if no place is free
     */
    void execute(Runnable work) {
        Crew now = crew;
        if (!now.places.tryAcquire()) {
            throw full();
        }
        run(now, work);
    }

    /**
     * Runs the work in a thread of the pool, and waits for a place if none is free; false if none
     * became free in time.
     *
     * @throws PoolFullException    if the pool is closed
     * @throws InterruptedException if the caller is to end
     */
    boolean executeWithin(Duration patience, Runnable work) throws InterruptedException {
        Crew now = crew;
        if (!now.places.tryAcquire(patience.toNanos(), TimeUnit.NANOSECONDS)) {
            return false;
        }
        run(now, work);
        return true;
    }

    /** Counts work that was turned away, and says so. */
    PoolFullException full() {
        rejected.increment();
        return new PoolFullException(name);
    }

    private void run(Crew now, Runnable work) {
        taken.incrementAndGet();
        Crew serving = now;
        Runnable counted = counted(now, work);
        while (true) {
            try {
                serving.threads.execute(counted);
                return;
            } catch (RejectedExecutionException e) {
                // The limits were changed, or the node is being stopped.
                if (serving == crew) {
                    taken.decrementAndGet();
                    now.places.release();
                    throw full();
                }
                serving = crew;
            }
        }
    }

    private Runnable counted(Crew places, Runnable work) {
        long queuedAt = System.nanoTime();
        return () -> {
            long begin = System.nanoTime();
            waitedNanos.add(begin - queuedAt);
            active.incrementAndGet();
            try {
                work.run();
            } finally {
                workedNanos.add(System.nanoTime() - begin);
                done.increment();
                active.decrementAndGet();
                taken.decrementAndGet();
                places.places.release();
            }
        };
    }

    @Override
    public synchronized void close() {
        crew.threads.shutdownNow();
    }
}
