package refstack.bindings;

import io.micrometer.core.instrument.MeterRegistry;
import javax.sql.DataSource;
import org.apache.cxf.bus.spring.SpringBus;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import refstack.core.ConditionalOnPart;
import refstack.core.Part;
import refstack.transport.Soap;

/** What sender and receiver both need. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnPart(Part.BINDINGS)
class BindingConfiguration {

    @Bean
    Receiver bindingReceiver(@Value("${refstack.node.name}") String node,
            ObjectProvider<DataSource> database, MeterRegistry registry) {
        return new Receiver(node, new WorkDatabase(database.getIfAvailable()), registry);
    }

    @Bean
    Pools bindingPools(BindingProperties properties, MeterRegistry registry) {
        return new Pools(properties, registry);
    }

    @Bean(destroyMethod = "shutdown")
    SpringBus bindingBus() {
        return Soap.bus();
    }
}
