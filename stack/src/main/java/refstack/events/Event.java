package refstack.events;

import java.math.BigDecimal;
import java.time.OffsetDateTime;

/**
 * What an agent tells.
 *
 * @param id       its key: a repeated event has the same
 * @param agent    who tells
 * @param sequence number of the event at its agent
 * @param tag      what was measured
 * @param value    the value
 * @param time     when
 */
record Event(String id, String agent, long sequence, String tag, BigDecimal value,
        OffsetDateTime time) {
}
