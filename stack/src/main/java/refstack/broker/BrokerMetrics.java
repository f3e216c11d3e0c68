package refstack.broker;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.apache.activemq.artemis.core.server.Queue;

/** What a broker tells of its queues and its journal, as {@code refstack_broker_*}. */
public final class BrokerMetrics implements MeterBinder {

    private final Broker broker;

    public BrokerMetrics(Broker broker) {
        this.broker = broker;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        List<String> names = new ArrayList<>(broker.settings().queues());
        names.add(BrokerSettings.DEAD);
        for (String name : names) {
            gauge(registry, "depth", name, Queue::getMessageCount);
            gauge(registry, "delivering", name, Queue::getDeliveringCount);
            gauge(registry, "consumers", name, Queue::getConsumerCount);
            counter(registry, "added", name, Queue::getMessagesAdded);
            counter(registry, "acknowledged", name, Queue::getMessagesAcknowledged);
            counter(registry, "killed", name, Queue::getMessagesKilled);
        }
        Gauge.builder("refstack.broker.memory", broker,
                one -> one.server().getPagingManager().getGlobalSize())
                .tag("of", "messages").baseUnit("bytes").register(registry);
        if (broker.server().journalFiles() != null) {
            FunctionCounter.builder("refstack.broker.journal.syncs", broker,
                    one -> one.server().journalFiles().syncs())
                    .tag("journal", "messages").register(registry);
            FunctionCounter.builder("refstack.broker.journal.sync", broker,
                    one -> one.server().journalFiles().seconds())
                    .tag("journal", "messages").baseUnit("seconds").register(registry);
        }
    }

    private void gauge(MeterRegistry registry, String what, String queue,
            ToDoubleFunction<Queue> value) {
        Gauge.builder("refstack.broker.queue." + what, broker, one -> read(one, queue, value))
                .tag("queue", queue).register(registry);
    }

    private void counter(MeterRegistry registry, String what, String queue,
            ToDoubleFunction<Queue> value) {
        FunctionCounter.builder("refstack.broker.queue." + what, broker,
                one -> read(one, queue, value)).tags(Tags.of("queue", queue)).register(registry);
    }

    private static double read(Broker broker, String name, ToDoubleFunction<Queue> value) {
        Queue queue = broker.queue(name);
        return queue == null ? Double.NaN : value.applyAsDouble(queue);
    }
}
