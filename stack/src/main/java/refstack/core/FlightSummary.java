package refstack.core;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;

/**
 * What the list of flights says about each of them: the columns of a BAPI flight list.
 *
 * <p>Component names are the names in every representation; each is a component of
 * {@link Flight} too, so that a protocol can offer the list as a selection of the detail.
 */
public record FlightSummary(
        String carrid,
        String connid,
        LocalDate fldate,
        String airline,
        String airportFrom,
        String cityFrom,
        String airportTo,
        String cityTo,
        LocalTime departureTime,
        LocalTime arrivalTime,
        BigDecimal price,
        String currency,
        Instant changedAt) {

    /** The key under which the detail of this flight is found. */
    public FlightKey key() {
        return new FlightKey(carrid, connid, fldate);
    }
}
