package refstack.pages;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

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
        @DefaultValue("10") int count,
        @DefaultValue("25") int rows,
        @DefaultValue("8KB") DataSize chart,
        @DefaultValue("30m") Duration sessionTimeout,
        @DefaultValue("10000") int maxSessions) {

    private static final int SMALLEST_CHART = 32;
    private static final int LARGEST_CHART = 1 << 24;

    PageProperties {
        if (sessionTimeout.toSeconds() < 1) {
            throw new IllegalArgumentException(
                    "refstack.pages.session-timeout must be 1s or more");
        }
        if (chart.toBytes() < SMALLEST_CHART || chart.toBytes() > LARGEST_CHART) {
            throw new IllegalArgumentException(
                    "refstack.pages.chart must be from 32 bytes to 16 MB");
        }
    }

    /** Parts of a page. */
    static int partsOf(int page) {
        return page % 2 == 1 ? 5 : 4;
    }
}
