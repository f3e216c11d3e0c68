package refstack.business;

import jakarta.validation.constraints.PositiveOrZero;
import java.time.Duration;
import org.hibernate.validator.constraints.time.DurationMin;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;
import refstack.core.Bytes;

/**
 * Sessions and workers of the business.
 *
 * @param sessions         where sessions live
 * @param sessionsInMemory with sessions in the database: how many a node keeps in memory besides;
 *                         0 = none, each request reads its session
 * @param sessionSize      size of the workspace that each session carries
 * @param sessionTimeout   idle time after which a session ends
 * @param workers          most transactions at work at a time, others wait; 0 = no limit
 */
@ConfigurationProperties("refstack.business")
record BusinessProperties(
        @DefaultValue("memory") Store sessions,
        @DefaultValue("0") @PositiveOrZero int sessionsInMemory,
        @DefaultValue("4KB") @Bytes(min = 0, max = 1 << 24) DataSize sessionSize,
        @DefaultValue("30m") @DurationMin(seconds = 1) Duration sessionTimeout,
        @DefaultValue("0") @PositiveOrZero int workers) {

    /** Where sessions live. */
    enum Store {

        /** In the node that made them, and they die with it. */
        MEMORY,

        /** In the database, where every node finds them. */
        DATABASE
    }

    BusinessProperties {
        if (sessionsInMemory > 0 && sessions == Store.MEMORY) {
            throw new IllegalArgumentException("refstack.business.sessions-in-memory is for "
                    + "refstack.business.sessions=database: else all of them are in memory");
        }
    }
}
