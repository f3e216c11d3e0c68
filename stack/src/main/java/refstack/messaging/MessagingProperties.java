package refstack.messaging;

import java.time.Duration;
import java.util.Set;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

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
        @DefaultValue("work") Set<String> queues,
        @DefaultValue("4") int consumers,
        @DefaultValue("2MB") DataSize maxBody,
        @DefaultValue("1000000") int maxFill,
        @DefaultValue("1s") Duration retryAfter) {

    /** Most consumers of a node: each has a thread and a connection. */
    static final int MAX_CONSUMERS = 1000;

    MessagingProperties {
        if (queues.isEmpty() || maxFill < 1) {
            throw new IllegalArgumentException(
                    "refstack.messaging.queues must name a queue, .max-fill must be 1 or more");
        }
        if (consumers < 0 || consumers > MAX_CONSUMERS) {
            throw new IllegalArgumentException(
                    "refstack.messaging.consumers must be from 0 to " + MAX_CONSUMERS);
        }
    }

    String workQueue() {
        return queues.iterator().next();
    }
}
