package refstack.core;

import java.net.URI;
import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * Which back end a node uses.
 *
 * @param url   root of a process of role {@code backend}, for example
 *              {@code http://127.0.0.1:8090}; empty means that the back end runs in this process
 * @param cache whether answers of the back end are kept in memory
 */
@ConfigurationProperties("refstack.backend")
public record BackendProperties(URI url, boolean cache) {

    /** Wraps {@code backend} as configured. */
    public FlightBackend decorate(FlightBackend backend) {
        return cache ? new CachingBackend(backend) : backend;
    }
}
