package refstack.messaging;

import io.micrometer.core.instrument.MeterRegistry;
import javax.sql.DataSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import refstack.core.ConditionalOnApp;
import refstack.core.Part;
import refstack.core.queue.DurableQueues;

/** Messages of an app node. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnApp(Part.MESSAGING)
class MessagingConfiguration {

    @Bean(destroyMethod = "close")
    Messaging messaging(DurableQueues queues, DataSource database, MessagingProperties properties,
            MeterRegistry registry) {
        return new Messaging(queues, new MessageStore(database, registry), properties, registry);
    }
}
