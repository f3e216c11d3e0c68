package refstack.business;

import jakarta.servlet.DispatcherType;
import java.time.Clock;
import java.util.EnumSet;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.session.Session;
import org.springframework.session.SessionRepository;
import org.springframework.session.jdbc.JdbcIndexedSessionRepository;
import org.springframework.session.web.http.CookieHttpSessionIdResolver;
import org.springframework.session.web.http.DefaultCookieSerializer;
import org.springframework.session.web.http.SessionRepositoryFilter;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;
import refstack.core.ConditionalOnApp;
import refstack.core.Part;

/** Where sessions live: by {@code refstack.business.sessions}. */
final class SessionConfiguration {

    private static final String PROPERTY = "refstack.business.sessions";

    private SessionConfiguration() {
    }

    /** In the node's memory. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnApp(Part.BUSINESS)
    @ConditionalOnProperty(name = PROPERTY, havingValue = "memory", matchIfMissing = true)
    static class InMemory {

        @Bean
        MemorySessions memorySessions(SessionCounts counts) {
            return new MemorySessions(counts);
        }
    }

    /** In the database. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnApp(Part.BUSINESS)
    @ConditionalOnProperty(name = PROPERTY, havingValue = "database")
    static class InDatabase {

        private static final long CLEANING_SECONDS = 60;

        @Bean
        JdbcIndexedSessionRepository databaseSessions(JdbcTemplate database,
                PlatformTransactionManager transactions, BusinessProperties properties) {
            TransactionTemplate own = new TransactionTemplate(transactions);
            own.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
            JdbcIndexedSessionRepository sessions =
                    new JdbcIndexedSessionRepository(database, own);
            sessions.setTableName("business_session");
            sessions.setDefaultMaxInactiveInterval(properties.sessionTimeout());
            // Done, and counted, by ExpiredSessions.
            sessions.setCleanupCron(Scheduled.CRON_DISABLED);
            return sessions;
        }

        @Bean
        ExpiredSessions expiredSessions(JdbcTemplate database, SessionCounts counts) {
            return new ExpiredSessions(database, counts, Clock.systemUTC(), CLEANING_SECONDS);
        }

        @Bean
        SessionsInMemory sessionsInMemory(BusinessProperties properties) {
            return new SessionsInMemory(properties.sessionsInMemory());
        }

        @Bean
        FilterRegistrationBean<?> sharedSessions(JdbcIndexedSessionRepository database,
                SessionsInMemory inMemory, SessionCounts counts) {
            FilterRegistrationBean<?> filter = new FilterRegistrationBean<>(
                    filter(database, inMemory, counts));
            filter.addUrlPatterns("/business/*");
            filter.setDispatcherTypes(EnumSet.of(DispatcherType.REQUEST));
            filter.setOrder(SessionRepositoryFilter.DEFAULT_ORDER);
            return filter;
        }

        private static <S extends Session> SessionRepositoryFilter<S> filter(
                SessionRepository<S> database, SessionsInMemory inMemory, SessionCounts counts) {
            DefaultCookieSerializer cookie = new DefaultCookieSerializer();
            cookie.setCookieName(Desks.COOKIE);
            cookie.setCookiePath("/");
            CookieHttpSessionIdResolver resolver = new CookieHttpSessionIdResolver();
            resolver.setCookieSerializer(cookie);
            SessionRepositoryFilter<S> filter = new SessionRepositoryFilter<>(
                    new SharedSessions<>(database, inMemory, counts));
            filter.setHttpSessionIdResolver(new OneLook(resolver));
            return filter;
        }
    }
}
