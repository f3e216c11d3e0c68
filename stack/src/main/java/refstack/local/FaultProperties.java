package refstack.local;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * A fault to order: the report had four requests in each run that always timed out.
 *
 * @param flights how many flights, the first in the order of their keys, time out; 0 = none
 * @param delay   after how long they do
 */
@ConfigurationProperties("refstack.fault")
record FaultProperties(int flights, Duration delay) {

    FaultProperties {
        if (flights < 0) {
            throw new IllegalArgumentException("refstack.fault.flights must not be negative");
        }
        if (delay.toMillis() < 1) {
            throw new IllegalArgumentException("refstack.fault.delay must be 1 ms or more");
        }
    }
}
