package refstack.bindings;

import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import refstack.core.PoolLimits;

/**
 * The pools of asynchronous work: one for each kind of work, made when it is asked for, or one that
 * all kinds share.
 */
class Pools implements AutoCloseable {

    static final String SHARED = "bindings-shared";
    static final String QUEUE = "bindings-queue";
    static final String JMS = "bindings-jms";
    static final String RPC = "bindings-rpc";

    private final BindingProperties properties;
    private final MeterRegistry registry;
    private final Map<String, WorkPool> made = new LinkedHashMap<>();

    Pools(BindingProperties properties, MeterRegistry registry) {
        this.properties = properties;
        this.registry = registry;
    }

    private boolean isShared() {
        return properties.sharedThreads() > 0;
    }

    /** Of calls over the queue in the process. */
    WorkPool queue() {
        return pool(QUEUE, PoolLimits.of(properties.queueThreads()), properties.queueCapacity());
    }

    /** Of requests that came over a broker's queue; where they wait is the broker. */
    WorkPool jms() {
        return pool(JMS, PoolLimits.of(properties.jmsThreadsOrConsumers()),
                properties.jmsConsumers());
    }

    /** Of remote procedure calls. */
    WorkPool rpc() {
        return pool(RPC, new PoolLimits(properties.rpcThreads(), properties.rpcGrowth(),
                properties.rpcIdle()), properties.rpcCapacity());
    }

    private synchronized WorkPool pool(String name, PoolLimits limits, int capacity) {
        if (isShared()) {
            return made.computeIfAbsent(SHARED, shared -> new WorkPool(shared,
                    PoolLimits.of(properties.sharedThreads()), properties.sharedCapacity(),
                    properties.virtual(), registry));
        }
        return made.computeIfAbsent(name, own ->
                new WorkPool(own, limits, capacity, properties.virtual(), registry));
    }

    /** Those that were made. */
    synchronized List<WorkPool> all() {
        return new ArrayList<>(made.values());
    }

    @Override
    public synchronized void close() {
        made.values().forEach(WorkPool::close);
    }
}
