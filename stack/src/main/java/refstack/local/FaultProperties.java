package refstack.local;

import jakarta.validation.constraints.PositiveOrZero;
import java.time.Duration;
import org.hibernate.validator.constraints.time.DurationMin;
import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * A fault to order: the report had four requests in each run that always timed out.
 *
 * @param flights how many flights, the first in the order of their keys, time out; 0 = none
 * @param delay   after how long they do
 */
@ConfigurationProperties("refstack.fault")
record FaultProperties(@PositiveOrZero int flights, @DurationMin(millis = 1) Duration delay) {
}
