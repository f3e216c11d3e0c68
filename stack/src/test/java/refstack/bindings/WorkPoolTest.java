package refstack.bindings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import refstack.core.PoolLimits;
import refstack.core.VirtualThreads;

/** Limits of a pool, and what it counts. */
@Timeout(30)
class WorkPoolTest {

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

    private double gauge(String what) {
        return registry.get("refstack.bindings.pool." + what).gauge().value();
    }

    private double counter(String what) {
        return registry.get("refstack.bindings.pool." + what).functionCounter().count();
    }

    /** Has so many pieces of work run at once, and returns when they are done and counted. */
    private void together(WorkPool pool, int pieces, Runnable meanwhile)
            throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(pieces);
        CountDownLatch release = new CountDownLatch(1);
        double before = counter("done");
        for (int i = 0; i < pieces; i++) {
            pool.execute(() -> {
                begun.countDown();
                await(release);
            });
        }
        begun.await();
        meanwhile.run();
        release.countDown();
        // The pool counts work after it has ended.
        await(() -> counter("done") == before + pieces);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void await(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            Thread.onSpinWait();
        }
    }

    @Test
    void withoutALimitNothingWaitsForAThread() throws InterruptedException {
        try (WorkPool pool = new WorkPool("p", 0, 1, registry)) {
            together(pool, 40, () -> {
                assertThat(gauge("active")).isEqualTo(40);
                assertThat(gauge("queued")).isZero();
                assertThat(gauge("threads")).isEqualTo(40);
                assertThat(gauge("limit")).isNaN();
            });
            await(() -> gauge("threads") == 0);
            assertThat(gauge("largest")).isEqualTo(40);
            assertThat(counter("started")).isEqualTo(40);
        }
    }

    @Test
    void aPoolThatGrowsKeepsOnlyTheThreadsWithinItsLimit() throws InterruptedException {
        PoolLimits limits = new PoolLimits(3, true, Duration.ZERO);
        try (WorkPool pool = new WorkPool("p", limits, 1, false, registry)) {
            together(pool, 10, () -> assertThat(gauge("active")).isEqualTo(10));
            await(() -> gauge("threads") == 3 && gauge("active") == 0);
            together(pool, 3, () -> assertThat(gauge("active")).isEqualTo(3));
            assertThat(counter("done")).isEqualTo(13);
        }
    }

    @Test
    void idleThreadsEndAndOthersAreStartedForMoreWork() throws InterruptedException {
        PoolLimits limits = new PoolLimits(2, false, Duration.ofMillis(5));
        try (WorkPool pool = new WorkPool("p", limits, 9, false, registry)) {
            together(pool, 2, () -> { });
            await(() -> gauge("threads") == 0);
            together(pool, 2, () -> { });
            assertThat(counter("started")).isEqualTo(4);
        }
    }

    @Test
    void newLimitsHoldAtOnceAndWhatWaitsIsDone() throws InterruptedException {
        try (WorkPool pool = new WorkPool("p", 1, 9, registry)) {
            CountDownLatch release = new CountDownLatch(1);
            CountDownLatch done = new CountDownLatch(5);
            for (int i = 0; i < 5; i++) {
                pool.execute(() -> {
                    await(release);
                    done.countDown();
                });
            }
            pool.resize(PoolLimits.of(7));
            together(pool, 7, () -> assertThat(gauge("active")).isEqualTo(8));
            assertThat(gauge("largest")).isEqualTo(7);
            release.countDown();
            done.await();
            await(() -> counter("done") == 12 && gauge("active") == 0);
            assertThat(gauge("queued")).isZero();
        }
    }

    @Test
    void theTimesThatAreCountedAreThoseOfWaitingAndOfWork() throws InterruptedException {
        try (WorkPool pool = new WorkPool("p", 1, 9, registry)) {
            long begin = System.nanoTime();
            CountDownLatch release = new CountDownLatch(1);
            CountDownLatch done = new CountDownLatch(3);
            for (int i = 0; i < 3; i++) {
                pool.execute(() -> {
                    await(release);
                    long until = System.nanoTime() + 5_000_000;
                    await(() -> System.nanoTime() > until);
                    done.countDown();
                });
            }
            // The first works from when all are there: what is queued later waits less.
            release.countDown();
            done.await();
            await(() -> gauge("active") == 0);
            double seconds = (System.nanoTime() - begin) / 1e9;
            // One thread: it cannot have worked for longer than the time that passed; the second
            // piece waited for the first, the third for both. None waited when its own work and
            // that of those behind it was done.
            assertThat(counter("worked.seconds")).isBetween(0.015, seconds);
            assertThat(counter("waited.seconds")).isBetween(0.015, 3 * seconds - 0.03);
        }
    }

    @Test
    void aPlaceThatDoesNotComeFreeIsToldAndOneThatDoesIsTaken() throws InterruptedException {
        try (WorkPool pool = new WorkPool("p", 1, 1, registry)) {
            CountDownLatch release = new CountDownLatch(1);
            pool.execute(() -> await(release));
            pool.execute(() -> { });
            assertThat(pool.executeWithin(Duration.ofMillis(1), () -> { })).isFalse();
            assertThatThrownBy(() -> pool.execute(() -> { })).isInstanceOf(PoolFullException.class);
            release.countDown();
            CountDownLatch done = new CountDownLatch(1);
            assertThat(pool.executeWithin(Duration.ofSeconds(20), done::countDown)).isTrue();
            assertThat(done.await(20, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void workThatFailsGivesItsPlaceBack() {
        try (WorkPool pool = new WorkPool("p", 1, 1, registry)) {
            for (int i = 0; i < 5; i++) {
                int before = i;
                pool.execute(() -> {
                    throw new QuietException();
                });
                await(() -> counter("done") == before + 1 && gauge("queued") == 0);
            }
        }
    }

    @Test
    void virtualThreadsAreThereFromTheirReleaseOn() throws InterruptedException {
        if (!VirtualThreads.isSupported()) {
            assertThatThrownBy(() -> VirtualThreads.factory("v-"))
                    .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("21");
            return;
        }
        Set<String> names = ConcurrentHashMap.newKeySet();
        try (WorkPool pool = new WorkPool("v", PoolLimits.of(1), 9, true, registry)) {
            pool.execute(() -> names.add(Receiver.poolOf(Thread.currentThread().getName())));
            await(() -> counter("done") == 1);
            assertThat(names).containsExactly("v");
        }
    }

    /** Ends a thread without a word in the test's output. */
    private static final class QuietException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        @Override
        public void printStackTrace(java.io.PrintStream out) {
            // Expected here.
        }
    }
}
