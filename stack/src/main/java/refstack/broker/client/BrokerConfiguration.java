package refstack.broker.client;

import io.micrometer.core.instrument.binder.MeterBinder;
import java.nio.file.Path;
import org.apache.activemq.artemis.jms.client.ActiveMQConnectionFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnExpression;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import refstack.broker.Broker;
import refstack.broker.BrokerMetrics;
import refstack.broker.BrokerSettings;
import refstack.core.ConditionalOnPart;
import refstack.core.ConditionalOnRole;
import refstack.core.Part;
import refstack.core.Role;
import refstack.core.queue.DurableQueues;
import refstack.core.queue.QueueUnavailableException;

/** Queues for the parts of an app node that need them: in this process, or of a broker process. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnRole(Role.APP)
@Conditional(BrokerConfiguration.OnQueues.class)
class BrokerConfiguration {

    /** Parts that send messages or work on them. */
    static final class OnQueues extends AnyNestedCondition {

        OnQueues() {
            super(ConfigurationPhase.PARSE_CONFIGURATION);
        }

        @ConditionalOnPart(Part.EVENTS)
        static final class Events {
        }

        @ConditionalOnPart(Part.MESSAGING)
        static final class Messaging {
        }
    }

    /** A broker in this node. Found by the scan on its own, hence the same conditions. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnRole(Role.APP)
    @Conditional(OnQueues.class)
    @ConditionalOnExpression("'${refstack.broker.url:}'.isBlank()")
    static class Embedded {

        @Bean(destroyMethod = "close")
        Broker broker(BrokerProperties properties, @Value("${refstack.node.data}") Path data)
                throws Exception {
            return Broker.embedded(data.resolve("broker"),
                    BrokerSettings.of(properties.embedded()));
        }

        @Bean
        MeterBinder brokerMetrics(Broker broker) {
            return new BrokerMetrics(broker);
        }

        @Bean(destroyMethod = "close")
        DurableQueues durableQueues(Broker broker, BrokerProperties properties) {
            return queues(broker.url(), BrokerSettings.of(properties.embedded()).largeBytes(),
                    properties);
        }
    }

    /** A broker process. Found by the scan on its own, hence the same conditions. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnRole(Role.APP)
    @Conditional(OnQueues.class)
    @ConditionalOnExpression("!'${refstack.broker.url:}'.isBlank()")
    static class Remote {

        @Bean(destroyMethod = "close")
        DurableQueues durableQueues(BrokerProperties properties) {
            return queues(properties.url().trim(),
                    BrokerSettings.of(properties.embedded()).largeBytes(), properties);
        }
    }

    @Bean
    HealthIndicator brokerHealthIndicator(DurableQueues queues) {
        return () -> {
            try {
                queues.depth(BrokerSettings.DEAD);
                return Health.up().build();
            } catch (QueueUnavailableException e) {
                return Health.outOfService().build();
            }
        };
    }

    private static JmsQueues queues(String url, int largeBytes, BrokerProperties properties) {
        ActiveMQConnectionFactory factory = new ActiveMQConnectionFactory(url);
        factory.setBlockOnDurableSend(true);
        factory.setBlockOnAcknowledge(true);
        factory.setCallTimeout(properties.callTimeout().toMillis());
        factory.setConsumerWindowSize((int) properties.consumerWindow().toBytes());
        factory.setMinLargeMessageSize(largeBytes);
        // A broken connection is given up at once: who sends is told, and tries again.
        factory.setReconnectAttempts(0);
        factory.setInitialConnectAttempts(1);
        // Without it a refused connection is told 2 s later, while all senders wait for it.
        factory.setRetryInterval(10);
        return new JmsQueues(factory, properties);
    }
}
