package refstack.events;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import refstack.core.queue.DurableQueues;
import refstack.core.queue.QueueConsumers;

/** The threads that store events. */
final class EventWorkers implements AutoCloseable {

    private final QueueConsumers consumers;

    EventWorkers(DurableQueues queues, EventStore store, EventProperties properties,
            MeterRegistry registry) {
        consumers = queues.consume("events", properties.queue(), properties.workers(), store);
        Gauge.builder("refstack.events.workers", consumers, QueueConsumers::size)
                .tag("state", "all").register(registry);
        Gauge.builder("refstack.events.workers", consumers, QueueConsumers::busy)
                .tag("state", "busy").register(registry);
        FunctionCounter.builder("refstack.events.events", consumers, QueueConsumers::failures)
                .tag("outcome", "failed").register(registry);
    }

    @Override
    public void close() {
        consumers.close();
    }
}
