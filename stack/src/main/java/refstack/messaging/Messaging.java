package refstack.messaging;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import refstack.core.queue.DurableQueues;
import refstack.core.queue.QueueConsumers;
import refstack.core.queue.QueueDepth;
import refstack.core.queue.QueuedMessage;

/** Sends messages, and has them worked on. */
final class Messaging implements AutoCloseable {

    private static final int PER_TRANSACTION = 100;

    private final DurableQueues queues;
    private final MessagingProperties properties;
    private final MessageStore store;
    private final QueueConsumers consumers;
    private final Counter sent;

    Messaging(DurableQueues queues, MessageStore store, MessagingProperties properties,
            MeterRegistry registry) {
        this.queues = queues;
        this.properties = properties;
        this.store = store;
        this.sent = registry.counter("refstack.messaging.messages", "outcome", "sent");
        this.consumers = queues.consume("messaging", properties.workQueue(),
                properties.consumers(), store);
        Gauge.builder("refstack.messaging.consumers", consumers, QueueConsumers::size)
                .tag("state", "all").register(registry);
        Gauge.builder("refstack.messaging.consumers", consumers, QueueConsumers::busy)
                .tag("state", "busy").register(registry);
        FunctionCounter.builder("refstack.messaging.messages", consumers, QueueConsumers::failures)
                .tag("outcome", "failed").register(registry);
    }

    /**
     * What is known of the work queue.
     *
     * @param depth      messages in it, by the broker's account
     * @param stored     rows that this node stored since its start
     * @param duplicates messages since then whose row was there already
     * @param consumers  how many this node has
     * @param delivering messages that are with a consumer of any node
     * @param dead       messages that were given up
     */
    record State(long depth, long stored, long duplicates, int consumers, long delivering,
            long dead) {
    }

    State state() {
        QueueDepth queue = queues.depth(properties.workQueue());
        return new State(queue.depth(), store.stored(), store.duplicates(), consumers.size(),
                queue.delivering(), queue.dead());
    }

    void send(String queue, QueuedMessage message) {
        queues.send(queue, message);
        sent.increment();
    }

    void fill(int count, Filling filling) {
        queues.sendAll(properties.workQueue(), count, number -> {
            sent.increment();
            return filling.message(number);
        }, PER_TRANSACTION);
    }

    void resize(int count) {
        consumers.resize(count);
    }

    @Override
    public void close() {
        consumers.close();
    }
}
