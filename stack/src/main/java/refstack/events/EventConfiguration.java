package refstack.events;

import io.micrometer.core.instrument.MeterRegistry;
import javax.sql.DataSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import refstack.core.ConditionalOnApp;
import refstack.core.Part;
import refstack.core.queue.DurableQueues;

/** Events of an app node. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnApp(Part.EVENTS)
class EventConfiguration {

    @Bean
    EventReader eventReader() {
        return new EventReader();
    }

    @Bean(destroyMethod = "close")
    EventWorkers eventWorkers(DurableQueues queues, DataSource database, EventReader eventReader,
            EventProperties properties, MeterRegistry registry) {
        return new EventWorkers(queues, new EventStore(database, eventReader, registry),
                properties, registry);
    }
}
