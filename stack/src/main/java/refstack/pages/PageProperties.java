package refstack.pages;

import jakarta.validation.constraints.Positive;
import java.time.Duration;
import org.hibernate.validator.constraints.time.DurationMin;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;
import refstack.core.Bytes;

/**
 * Pages and sessions.
 *
 * @param count          how many pages there are; odd ones have five parts, even ones four
 * @param rows           most rows of a query
 * @param chart          size of a chart's data
 * @param sessionTimeout idle time after which a session ends
 * @param maxSessions    most sessions at a time
 */
@ConfigurationProperties("refstack.pages")
record PageProperties(
        @DefaultValue("10") @Positive int count,
        @DefaultValue("25") @Positive int rows,
        @DefaultValue("8KB") @Bytes(min = 32, max = 1 << 24) DataSize chart,
        @DefaultValue("30m") @DurationMin(seconds = 1) Duration sessionTimeout,
        @DefaultValue("10000") @Positive int maxSessions) {

    /** Parts of a page. */
    static int partsOf(int page) {
        return page % 2 == 1 ? 5 : 4;
    }
}
