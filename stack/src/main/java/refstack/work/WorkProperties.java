package refstack.work;

import jakarta.validation.constraints.Positive;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Limits and steps of the work.
 *
 * @param fetchRows     rows that a large result brings at a time
 * @param chunkAccounts accounts that the closing job does in a transaction
 * @param maxPrograms   most programs of a generation job
 */
@ConfigurationProperties("refstack.work")
record WorkProperties(
        @DefaultValue("1000") @Positive int fetchRows,
        @DefaultValue("25") @Positive int chunkAccounts,
        @DefaultValue("100000") @Positive int maxPrograms) {
}
