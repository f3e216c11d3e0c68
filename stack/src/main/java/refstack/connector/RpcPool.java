package refstack.connector;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import refstack.core.BackendTimeoutException;

/**
 * A pool of connections that are lent to one caller at a time, in turn: so all are opened in the
 * warm-up of a load and none in the middle of it.
 */
class RpcPool implements AutoCloseable {

    private final BlockingQueue<RpcConnection> free;
    private final List<RpcConnection> every = new ArrayList<>();
    private final AtomicInteger waiting = new AtomicInteger();
    private final long timeoutMillis;
    private final Counter timeouts;

    RpcPool(String name, Supplier<RpcConnection> maker, ConnectorProperties properties,
            MeterRegistry registry) {
        this.free = new ArrayBlockingQueue<>(properties.pool());
        this.timeoutMillis = properties.acquireTimeout().toMillis();
        for (int i = 0; i < properties.pool(); i++) {
            every.add(maker.get());
        }
        free.addAll(every);
        Gauge.builder("refstack.connector.pool.active", () -> every.size() - free.size())
                .tag("pool", name).register(registry);
        Gauge.builder("refstack.connector.pool.waiting", waiting::get)
                .tag("pool", name).register(registry);
        Gauge.builder("refstack.connector.pool.limit", every::size)
                .tag("pool", name).register(registry);
        this.timeouts = Counter.builder("refstack.connector.pool.timeouts")
                .tag("pool", name).register(registry);
    }

    /**
     * Does something with a connection of the pool, which nobody else has meanwhile.
     *
     * @throws BackendTimeoutException if none becomes free in time
     */
    <T> T lend(Function<RpcConnection, T> work) {
        RpcConnection connection = borrow();
        try {
            return work.apply(connection);
        } finally {
            free.add(connection);
        }
    }

    private RpcConnection borrow() {
        RpcConnection connection = free.poll();
        if (connection != null) {
            return connection;
        }
        waiting.incrementAndGet();
        try {
            connection = free.poll(timeoutMillis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            waiting.decrementAndGet();
        }
        if (connection == null) {
            timeouts.increment();
            throw new BackendTimeoutException("No connection to the back end became free.", null);
        }
        return connection;
    }

    @Override
    public void close() {
        every.forEach(RpcConnection::close);
    }
}
