package refstack.local;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;
import refstack.core.BackendProperties;
import refstack.core.ConditionalOnBackend;
import refstack.core.ConditionalOnBackend.Place;
import refstack.core.FlightBackend;

/** The back end over the data source of a node that has its back end in itself. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBackend(Place.LOCAL)
class LocalConfiguration {

    @Bean
    FlightBackend localBackend(JdbcTemplate template, TransactionTemplate transaction,
            FaultProperties fault, BackendProperties properties) {
        FlightBackend backend = new LocalBackend(template);
        if (fault.flights() > 0) {
            backend = new FaultyBackend(backend, fault, template, transaction);
        }
        return properties.decorate(backend);
    }
}
