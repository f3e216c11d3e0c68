package refstack.business;

import com.zaxxer.hikari.HikariDataSource;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;
import refstack.core.ConditionalOnApp;
import refstack.core.Part;

/** What the business is made of, in app nodes that have the part. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnApp(Part.BUSINESS)
class BusinessConfiguration {

    @Bean
    SessionCounts businessSessionCounts(MeterRegistry registry) {
        return new SessionCounts(registry);
    }

    @Bean
    Desks desks(BusinessProperties properties, SessionCounts counts) {
        return new Desks(properties.sessionTimeout(), (int) properties.sessionSize().toBytes(),
                counts);
    }

    @Bean
    Workers workers(BusinessProperties properties, MeterRegistry registry) {
        return new Workers(properties.workers(), registry);
    }

    @Bean
    DatabaseConnections databaseConnections(HikariDataSource pool) {
        return new DatabaseConnections(pool);
    }

    @Bean
    Office office(Desks desks, Workers workers, MeterRegistry registry,
            @Value("${refstack.node.name}") String node) {
        return new Office(desks, workers, new BusinessMetrics(registry), node);
    }

    @Bean
    Users users(JdbcTemplate database) {
        return new Users(database);
    }

    @Bean
    Customers customers(JdbcTemplate database) {
        return new Customers(database);
    }

    @Bean
    Catalog catalog(JdbcTemplate database) {
        return new Catalog(database);
    }

    @Bean
    Documents documents(JdbcTemplate database, PlatformTransactionManager transactions) {
        return new Documents(database, new TransactionTemplate(transactions));
    }

    @Bean
    Orders orders(JdbcTemplate database, Documents documents) {
        return new Orders(database, documents);
    }

    @Bean
    Books books(JdbcTemplate database, Documents documents) {
        return new Books(database, documents);
    }
}
