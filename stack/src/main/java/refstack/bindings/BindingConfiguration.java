package refstack.bindings;

import io.micrometer.core.instrument.MeterRegistry;
import javax.sql.DataSource;
import org.apache.cxf.bus.spring.SpringBus;
import org.apache.cxf.logging.FaultListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import refstack.core.ConditionalOnPart;
import refstack.core.Part;

/** What sender and receiver both need. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnPart(Part.BINDINGS)
class BindingConfiguration {

    private static final Logger LOGGER = LoggerFactory.getLogger(BindingConfiguration.class);

    @Bean
    Receiver bindingReceiver(@Value("${refstack.node.name}") String node,
            ObjectProvider<DataSource> database, MeterRegistry registry) {
        return new Receiver(node, new WorkDatabase(database.getIfAvailable()), registry);
    }

    @Bean
    Pools bindingPools(BindingProperties properties, MeterRegistry registry) {
        return new Pools(properties, registry);
    }

    /** The SOAP library; its failures are told by their answers, not by traces in the log. */
    @Bean(destroyMethod = "shutdown")
    SpringBus bindingBus() {
        SpringBus bus = new SpringBus();
        FaultListener quiet = (failure, description, message) -> {
            LOGGER.debug("{}: {}", description, failure.toString());
            return false;
        };
        bus.setProperty(FaultListener.class.getName(), quiet);
        return bus;
    }
}
