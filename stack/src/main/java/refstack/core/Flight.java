package refstack.core;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;

/**
 * All there is to know about one flight: the fields of a BAPI flight detail (flight data,
 * additional information, availability).
 *
 * <p>Times are local to their airport. {@code flightTime} is in minutes; seats are counted per
 * class, the unprefixed ones are economy; {@code paymentSum} is what the bookings of this flight
 * have paid so far, in {@code currency}. The ISO codes are those that a BAPI adds to its own ones.
 */
public record Flight(
        String carrid,
        String connid,
        LocalDate fldate,
        String airline,
        String airportFrom,
        String airportNameFrom,
        String cityFrom,
        String countryFrom,
        String timeZoneFrom,
        String airportTo,
        String airportNameTo,
        String cityTo,
        String countryTo,
        String timeZoneTo,
        LocalTime departureTime,
        LocalTime arrivalTime,
        LocalDate arrivalDate,
        int flightTime,
        int distance,
        String distanceUnit,
        String distanceUnitIso,
        String flightType,
        String planeType,
        String planeName,
        BigDecimal price,
        String currency,
        String currencyIso,
        int seatsMax,
        int seatsOccupied,
        int businessSeatsMax,
        int businessSeatsOccupied,
        int firstSeatsMax,
        int firstSeatsOccupied,
        BigDecimal paymentSum,
        Instant changedAt) {

    /** The key under which this flight is found. */
    public FlightKey key() {
        return new FlightKey(carrid, connid, fldate);
    }
}
