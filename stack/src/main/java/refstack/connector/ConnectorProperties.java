package refstack.connector;

import jakarta.validation.constraints.Positive;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;
import refstack.core.Bytes;

/**
 * How an app node calls its back end, and how the back end checks who calls.
 *
 * @param user           name of the technical user
 * @param password       its password
 * @param iterations     rounds of the salted password hash (PBKDF2 with HMAC-SHA-256): the CPU
 *                       time of a login, which a call over SOAP pays each time
 * @param pool           connections of each pool: one for plain calls, one for logged ones
 * @param acquireTimeout longest wait for a connection: of a pool, or a new one to be opened
 * @param callTimeout    longest wait for an answer of the back end
 * @param maxBody        largest message
 */
@ConfigurationProperties("refstack.connector")
record ConnectorProperties(
        @DefaultValue("sizebook") String user,
        @DefaultValue("sizebook") String password,
        @DefaultValue("10000") @Positive int iterations,
        @DefaultValue("10") @Positive int pool,
        @DefaultValue("10s") Duration acquireTimeout,
        @DefaultValue("30s") Duration callTimeout,
        @DefaultValue("2MB") @Bytes DataSize maxBody) {

    /** Room for what a protocol puts around a body. */
    private static final int FRAME_BYTES = 4096;

    /** Largest message with its frame as a binary call. */
    int maxFrame() {
        return Math.toIntExact(maxBody.toBytes()) + FRAME_BYTES;
    }

    /** Largest message as text in base 64 with its envelope. */
    long maxEnvelope() {
        return maxBody.toBytes() / 3 * 4 + FRAME_BYTES;
    }
}
