package refstack.core;

import java.time.LocalDate;
import java.time.format.DateTimeParseException;
import java.util.Comparator;
import java.util.regex.Pattern;

/**
 * The key of a flight: which connection of which airline on which day.
 *
 * @param carrid airline, 2 or 3 capital letters or digits, for example {@code AA}
 * @param connid connection of that airline, 4 digits, for example {@code 0017}
 * @param fldate day of departure
 */
public record FlightKey(String carrid, String connid, LocalDate fldate)
        implements Comparable<FlightKey> {

    private static final Pattern CARRID = Pattern.compile("[A-Z0-9]{2,3}");
    private static final Pattern CONNID = Pattern.compile("[0-9]{4}");
    private static final Comparator<FlightKey> ORDER = Comparator.comparing(FlightKey::carrid)
            .thenComparing(FlightKey::connid).thenComparing(FlightKey::fldate);

    public FlightKey {
        if (!CARRID.matcher(carrid).matches()) {
            throw new MalformedKeyException("carrid must be 2 or 3 capital letters or digits");
        }
        if (!CONNID.matcher(connid).matches()) {
            throw new MalformedKeyException("connid must be 4 digits");
        }
        if (fldate == null) {
            throw new MalformedKeyException("fldate is missing");
        }
    }

    /** Reads a key out of text as it stands in URLs, with an ISO date such as 2011-06-01. */
    public static FlightKey parse(String carrid, String connid, String fldate) {
        try {
            return new FlightKey(carrid, connid, LocalDate.parse(fldate));
        } catch (DateTimeParseException e) {
            throw new MalformedKeyException("fldate must be a date such as 2011-06-01");
        }
    }

    @Override
    public int compareTo(FlightKey other) {
        return ORDER.compare(this, other);
    }
}
