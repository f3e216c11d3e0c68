package refstack.broker.client;

import jakarta.validation.constraints.Pattern;
import jakarta.validation.constraints.Positive;
import java.time.Duration;
import java.util.Map;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;
import refstack.broker.BrokerSettings;

/**
 * The broker of a node, and how the node talks to it.
 *
 * @param url            of a broker process, such as {@code tcp://127.0.0.1:61616}; empty: a broker
 *                       in this node, its data under {@code refstack.node.data}
 * @param embedded       settings of the broker in this node ({@link BrokerSettings})
 * @param senders        sessions for sending: how many messages may be on their way to the disk
 * @param senderTimeout  longest wait for one of them
 * @param callTimeout    longest wait for an answer of the broker
 * @param consumerWindow bytes of messages that a consumer is given ahead of its work
 * @param retryDelay     rest of a consumer after a failure, before it tries again
 */
@ConfigurationProperties("refstack.broker")
record BrokerProperties(
        @DefaultValue("") @Pattern(regexp = "\\s*(tcp://[A-Za-z0-9.-]+:[0-9]{1,5}\\s*)?",
                message = "must look like tcp://127.0.0.1:61616, or be empty") String url,
        @DefaultValue Map<String, String> embedded,
        @DefaultValue("20") @Positive int senders,
        @DefaultValue("2s") Duration senderTimeout,
        @DefaultValue("10s") Duration callTimeout,
        @DefaultValue("64KB") DataSize consumerWindow,
        @DefaultValue("200ms") Duration retryDelay) {

    BrokerProperties {
        BrokerSettings.of(embedded);
    }
}
