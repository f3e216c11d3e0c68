package refstack.events;

import java.time.Duration;
import org.hibernate.validator.constraints.Range;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;
import refstack.core.Bytes;

/**
 * Part {@code events}.
 *
 * @param queue      the queue between accepting and storing
 * @param workers    events stored at once; 0 = they are only accepted
 * @param maxBody    largest event
 * @param retryAfter what agents are told when the queue is full or the broker is away
 */
@ConfigurationProperties("refstack.events")
record EventProperties(
        @DefaultValue("events") String queue,
        @DefaultValue("4") @Range(min = 0, max = 1000) int workers,
        @DefaultValue("16KB") @Bytes DataSize maxBody,
        @DefaultValue("1s") Duration retryAfter) {
}
