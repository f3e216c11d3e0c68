package refstack.bindings;

import jakarta.validation.constraints.Positive;
import jakarta.validation.constraints.PositiveOrZero;
import java.time.Duration;
import org.hibernate.validator.constraints.time.DurationMin;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;
import refstack.core.Bytes;

/**
 * Pools and limits of the binding types.
 *
 * @param maxPayload     largest payload
 * @param maxCalls       most calls that one request may ask for
 * @param timeout        longest wait for a reply
 * @param virtual        whether the pools have virtual threads (Java 21 and later)
 * @param sharedThreads  threads that queue, JMS and remote calls share; 0 = a pool each
 * @param sharedCapacity calls that wait for one of these at most
 * @param queueThreads   threads behind the queue in the process; 0 = no limit
 * @param queueCapacity  calls that wait in it at most
 * @param rpcThreads     threads of the receiver of remote procedure calls
 * @param rpcCapacity    calls that wait for one of them at most
 * @param rpcGrowth      whether calls that find all busy get a thread of their own instead
 * @param rpcIdle        how long one of its threads waits for a call before it ends; 0 = those
 *                       within the limit stay, those beyond it end with their call
 * @param connections    most HTTP connections of the sender to the receiver
 * @param jmsSenders     sessions of the sender with the broker
 * @param jmsWindow      bytes that a session of the sender may send ahead of the broker's consent:
 *                       a broker that is full lets it wait after these
 * @param jmsConsumers   sessions of the receiver with the broker: requests under work at once
 * @param jmsThreads     threads that work on them; 0 = as many as sessions
 * @param jmsPersistent  whether the broker forces requests to disk; replies never are
 */
@ConfigurationProperties("refstack.bindings")
record BindingProperties(
        @DefaultValue("2MB") @Bytes DataSize maxPayload,
        @DefaultValue("10000") @Positive int maxCalls,
        @DefaultValue("30s") Duration timeout,
        @DefaultValue("false") boolean virtual,
        @DefaultValue("0") @PositiveOrZero int sharedThreads,
        @DefaultValue("100") @Positive int sharedCapacity,
        @DefaultValue("10") @PositiveOrZero int queueThreads,
        @DefaultValue("100") @Positive int queueCapacity,
        @DefaultValue("10") @Positive int rpcThreads,
        @DefaultValue("100") @Positive int rpcCapacity,
        @DefaultValue("false") boolean rpcGrowth,
        @DefaultValue("0s") @DurationMin Duration rpcIdle,
        @DefaultValue("20") @Positive int connections,
        @DefaultValue("20") @Positive int jmsSenders,
        @DefaultValue("64KB") @Bytes DataSize jmsWindow,
        @DefaultValue("10") @Positive int jmsConsumers,
        @DefaultValue("0") @PositiveOrZero int jmsThreads,
        @DefaultValue("true") boolean jmsPersistent) {

    int jmsThreadsOrConsumers() {
        return jmsThreads > 0 ? jmsThreads : jmsConsumers;
    }

    int maxBytes() {
        return (int) maxPayload.toBytes();
    }
}
