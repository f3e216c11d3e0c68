package refstack.remote;

import jakarta.validation.constraints.Positive;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * The pool of connections to a remote back end.
 *
 * @param maxConnections  most connections open at once; further calls wait for one
 * @param connectTimeout  longest wait for a connection to be opened
 * @param acquireTimeout  longest wait for a connection of the pool
 * @param responseTimeout longest wait for data of the answer
 */
@ConfigurationProperties("refstack.remote")
record RemoteProperties(@Positive int maxConnections, Duration connectTimeout,
        Duration acquireTimeout, Duration responseTimeout) {
}
