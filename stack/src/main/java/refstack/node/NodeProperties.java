package refstack.node;

import jakarta.validation.Valid;
import jakarta.validation.constraints.Positive;
import jakarta.validation.constraints.PositiveOrZero;
import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * Sizes of every node that other programs' records have: they are only checked here. Without that a
 * pool without a thread would start and hang.
 */
final class NodeProperties {

    private NodeProperties() {
    }

    /** Of the web server. */
    @ConfigurationProperties("server.tomcat")
    record Tomcat(@Valid Threads threads, @Positive Integer maxConnections) {

        /** Of its workers. */
        record Threads(@Positive Integer max) {
        }
    }

    /** Of the connections to the database. */
    @ConfigurationProperties("spring.datasource.hikari")
    record Database(@Positive Integer maximumPoolSize) {
    }

    /** Of the server of remote procedure calls. */
    @ConfigurationProperties("refstack.rpc")
    record Rpc(@Positive int threads, @PositiveOrZero int port) {
    }
}
