package refstack.messaging;

import jakarta.validation.constraints.NotEmpty;
import jakarta.validation.constraints.Positive;
import java.time.Duration;
import java.util.Set;
import org.hibernate.validator.constraints.Range;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;
import refstack.core.Bytes;

/**
 * Part {@code messaging}.
 *
 * @param queues     queues that messages can be sent to; the first of them is worked on
 * @param consumers  how many messages are worked on at once; 0 = none, until told otherwise
 * @param maxBody    largest message
 * @param maxFill    most messages that one request may produce
 * @param retryAfter what senders are told when a queue is full or the broker is away
 */
@ConfigurationProperties("refstack.messaging")
record MessagingProperties(
        @DefaultValue("work") @NotEmpty Set<String> queues,
        @DefaultValue("4") @Range(min = 0, max = 1000) int consumers,
        @DefaultValue("2MB") @Bytes DataSize maxBody,
        @DefaultValue("1000000") @Positive int maxFill,
        @DefaultValue("1s") Duration retryAfter) {

    /** Most consumers of a node: each has a thread and a connection. */
    static final int MAX_CONSUMERS = 1000;

    String workQueue() {
        return queues.iterator().next();
    }
}
