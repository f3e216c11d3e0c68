package refstack.core;

import jakarta.validation.constraints.Pattern;
import java.net.URI;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Which back end a node uses.
 *
 * @param url   root of a process of role {@code backend}, for example
 *              {@code http://127.0.0.1:8090}; empty means that the back end runs in this process
 * @param rpc   host and port of its remote procedures, if a part calls any
 * @param cache whether answers of the back end are kept in memory
 */
@ConfigurationProperties("refstack.backend")
public record BackendProperties(
        @DefaultValue("") @Pattern(
                regexp = "\\s*(http://(\\[[0-9a-fA-F:]+]|[^/:\\s]+)(:[0-9]{1,5})?(/\\S*)?\\s*)?",
                message = "must look like http://127.0.0.1:8090, or be empty") String url,
        @DefaultValue("") @Pattern(regexp = "([^:/\\s]+:[0-9]{1,5})?",
                message = "must look like 127.0.0.1:8091") String rpc,
        boolean cache) {

    /** The root of the back end. */
    public URI root() {
        return URI.create(url.trim());
    }

    /** Wraps {@code backend} as configured. */
    public FlightBackend decorate(FlightBackend backend) {
        return cache ? new CachingBackend(backend) : backend;
    }
}
