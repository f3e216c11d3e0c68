package refstack.connector;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;

/**
 * Checks names and passwords as a back-end system does: by a salted, iterated hash, so that each
 * login costs CPU time. Counts logins and refusals by protocol.
 */
class Logins {

    private static final int SALT_BYTES = 16;
    private static final int HASH_BITS = 256;

    private final byte[] salt = new byte[SALT_BYTES];
    private final int iterations;
    private final String user;
    private final byte[] hash;
    private final MeterRegistry registry;

    Logins(ConnectorProperties properties, MeterRegistry registry) {
        new SecureRandom().nextBytes(salt);
        this.iterations = properties.iterations();
        this.user = properties.user();
        this.hash = hash(properties.password());
        this.registry = registry;
    }

    /** The check of one protocol, with counters of its own. */
    Check over(String protocol) {
        return new Check(
                Counter.builder("refstack.connector.logins").tag("protocol", protocol)
                        .register(registry),
                Counter.builder("refstack.connector.logins.refused").tag("protocol", protocol)
                        .register(registry));
    }

    private byte[] hash(String password) {
        try {
            PBEKeySpec spec = new PBEKeySpec(password.toCharArray(), salt, iterations, HASH_BITS);
            return SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256").generateSecret(spec)
                    .getEncoded();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java has PBKDF2", e);
        }
    }

    /** Checks the logins of one protocol. */
    final class Check {

        private final Counter accepted;
        private final Counter refused;

        private Check(Counter accepted, Counter refused) {
            this.accepted = accepted;
            this.refused = refused;
        }

        /** Whether the password is the user's; it is hashed for an unknown user, too. */
        boolean accepts(String name, String password) {
            boolean isRight = MessageDigest.isEqual(hash, hash(password)) & user.equals(name);
            (isRight ? accepted : refused).increment();
            return isRight;
        }

        /** Counts a call that brought no name at all. */
        void refuse() {
            refused.increment();
        }
    }
}
