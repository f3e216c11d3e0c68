package refstack.pages;

import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import refstack.core.ConditionalOnApp;
import refstack.core.Part;

/** What pages are made of, in app nodes that have the part. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnApp(Part.PAGES)
class PageConfiguration {

    @Bean
    Sessions pageSessions(PageProperties properties, MeterRegistry registry) {
        return new Sessions(properties.sessionTimeout(), properties.maxSessions(), registry);
    }

    @Bean
    PageQueries pageQueries(JdbcTemplate database, PageProperties properties) {
        return new PageQueries(database, properties.rows());
    }
}
