package refstack.load;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The data of the flight sample, the same for the same number of flights and the same seed.
 *
 * <p>Airlines, airports, planes and the 24 connections are fixed. Flight {@code i} is on
 * connection {@code i mod 24}, on 2011-06-01 plus 14 days for every full round over the
 * connections; so 400 flights hold both flights that the report names, AA 0017 on 2011-06-01 and
 * on 2012-01-11. Price, plane, occupied seats, payments and the time of the last change are drawn
 * from one {@link SplittableRandom}, whose sequence is part of its specification.
 */
final class SampleFlights {

    static final int MAX_FLIGHTS = 10_000_000;

    private static final LocalDate FIRST_DAY = LocalDate.of(2011, 6, 1);
    private static final int DAYS_BETWEEN = 14;
    private static final Instant FIRST_CHANGE = Instant.parse("2011-05-01T00:00:00Z");
    private static final int CHANGE_SECONDS = 30 * 24 * 60 * 60;

    private record Plane(String type, String name, int seats, int business, int first) {
    }

    private record Connection(String carrid, String connid, String from, String to,
            String departure, String arrival, int days, int minutes, int distance, String unit,
            String currency) {
    }

    private static final List<String> CARRIERS = List.of(
            Table.row("AA", "American Airlines"),
            Table.row("AZ", "Alitalia"),
            Table.row("DL", "Delta Airlines"),
            Table.row("JL", "Japan Airlines"),
            Table.row("LH", "Lufthansa"),
            Table.row("QF", "Qantas Airways"),
            Table.row("SQ", "Singapore Airlines"),
            Table.row("UA", "United Airlines"));

    private static final List<String> AIRPORTS = List.of(
            airport("FCO", "Leonardo da Vinci Airport", "Rome", "IT", "Europe/Rome"),
            airport("FRA", "Frankfurt Airport", "Frankfurt", "DE", "Europe/Berlin"),
            airport("JFK", "John F. Kennedy International Airport", "New York", "US",
                    "America/New_York"),
            airport("KIX", "Kansai International Airport", "Osaka", "JP", "Asia/Tokyo"),
            airport("NRT", "Narita International Airport", "Tokyo", "JP", "Asia/Tokyo"),
            airport("SFO", "San Francisco International Airport", "San Francisco", "US",
                    "America/Los_Angeles"),
            airport("SIN", "Singapore Changi Airport", "Singapore", "SG", "Asia/Singapore"),
            airport("TXL", "Berlin Tegel Airport", "Berlin", "DE", "Europe/Berlin"));

    private static final List<Plane> PLANES = List.of(
            new Plane("146-200", "British Aerospace 146", 112, 0, 0),
            new Plane("747-400", "Boeing 747-400", 385, 31, 21),
            new Plane("767-200", "Boeing 767-200", 260, 21, 11),
            new Plane("A310-300", "Airbus A310-300", 280, 22, 10),
            new Plane("A319", "Airbus A319", 220, 16, 8),
            new Plane("A330-300", "Airbus A330-300", 320, 30, 20),
            new Plane("A380-800", "Airbus A380-800", 475, 30, 20));

    private static final List<Connection> CONNECTIONS = List.of(
            fly("AA", "0017", "JFK", "SFO", "11:00", "14:01", 0, 361, 2572, "MI", "USD"),
            fly("AA", "0064", "SFO", "JFK", "09:00", "17:21", 0, 321, 2572, "MI", "USD"),
            fly("AZ", "0555", "FCO", "FRA", "19:00", "21:05", 0, 125, 845, "KM", "EUR"),
            fly("AZ", "0788", "FCO", "NRT", "12:00", "08:55", 1, 775, 6130, "MI", "EUR"),
            fly("AZ", "0789", "NRT", "FCO", "11:45", "19:25", 0, 940, 6130, "MI", "EUR"),
            fly("AZ", "0790", "FCO", "KIX", "10:35", "08:10", 1, 815, 6030, "MI", "EUR"),
            fly("DL", "0106", "JFK", "FRA", "19:35", "09:30", 1, 475, 3851, "MI", "USD"),
            fly("DL", "1699", "JFK", "SFO", "17:15", "20:37", 0, 382, 2572, "MI", "USD"),
            fly("DL", "1984", "SFO", "JFK", "10:00", "18:25", 0, 325, 2572, "MI", "USD"),
            fly("JL", "0407", "NRT", "FRA", "13:30", "17:35", 0, 725, 9100, "KM", "JPY"),
            fly("JL", "0408", "FRA", "NRT", "20:25", "15:40", 1, 675, 9100, "KM", "JPY"),
            fly("LH", "0400", "FRA", "JFK", "10:10", "11:34", 0, 444, 6162, "KM", "EUR"),
            fly("LH", "0401", "JFK", "FRA", "18:30", "07:45", 1, 435, 6162, "KM", "EUR"),
            fly("LH", "0402", "FRA", "JFK", "13:30", "15:05", 0, 455, 6162, "KM", "EUR"),
            fly("LH", "2402", "FRA", "TXL", "10:30", "11:35", 0, 65, 555, "KM", "EUR"),
            fly("LH", "2407", "TXL", "FRA", "07:10", "08:15", 0, 65, 555, "KM", "EUR"),
            fly("QF", "0005", "SIN", "FRA", "22:50", "05:35", 1, 825, 10000, "KM", "EUR"),
            fly("QF", "0006", "FRA", "SIN", "20:55", "15:05", 1, 730, 10000, "KM", "EUR"),
            fly("SQ", "0002", "SIN", "SFO", "17:00", "19:25", 0, 1045, 8452, "MI", "SGD"),
            fly("SQ", "0015", "SFO", "SIN", "16:00", "02:45", 2, 1185, 8452, "MI", "SGD"),
            fly("SQ", "0988", "SIN", "NRT", "16:35", "00:15", 1, 400, 3125, "MI", "SGD"),
            fly("UA", "0941", "FRA", "SFO", "14:30", "17:06", 0, 696, 5685, "MI", "USD"),
            fly("UA", "3504", "SFO", "FRA", "15:00", "10:30", 1, 630, 5685, "MI", "USD"),
            fly("UA", "3516", "JFK", "FRA", "16:20", "05:45", 1, 445, 6162, "KM", "USD"));

    private final int flights;
    private final SplittableRandom random;

    private SampleFlights(int flights, long seed) {
        this.flights = flights;
        this.random = new SplittableRandom(seed);
    }

    /** The tables in an order in which each only refers to earlier ones. */
    static List<Table> tables(int flights, long seed) {
        return new SampleFlights(flights, seed).tables();
    }

    private List<Table> tables() {
        return List.of(
                Table.of("carrier", "carrid name", CARRIERS),
                Table.of("airport", "code name city country time_zone", AIRPORTS),
                Table.of("plane", "plane_type name seats_max business_seats_max first_seats_max",
                        PLANES.stream().map(SampleFlights::row).toList()),
                Table.of("connection", "carrid connid airport_from airport_to departure_time "
                        + "arrival_time arrival_days flight_time distance distance_unit "
                        + "distance_unit_iso flight_type",
                        CONNECTIONS.stream().map(SampleFlights::row).toList()),
                Table.of("flight", "carrid connid fldate price currency currency_iso "
                        + "plane_type seats_max seats_occupied business_seats_max "
                        + "business_seats_occupied first_seats_max first_seats_occupied "
                        + "payment_sum changed_at",
                        flightRows()));
    }

    private List<String> flightRows() {
        List<String> rows = new ArrayList<>(flights);
        for (int i = 0; i < flights; i++) {
            LocalDate day = FIRST_DAY.plusDays((long) DAYS_BETWEEN * (i / CONNECTIONS.size()));
            rows.add(flightRow(CONNECTIONS.get(i % CONNECTIONS.size()), day));
        }
        return rows;
    }

    /** Fares grow with the distance; business costs two economy fares, first class four. */
    private String flightRow(Connection connection, LocalDate day) {
        Plane plane = PLANES.get(random.nextInt(PLANES.size()));
        long cents = 8_000 + 15L * connection.distance() + random.nextInt(10_000);
        int economy = occupied(plane.seats());
        int business = occupied(plane.business());
        int first = occupied(plane.first());
        long paid = cents * (economy + 2L * business + 4L * first);
        Instant changed = FIRST_CHANGE.plusSeconds(random.nextInt(CHANGE_SECONDS));
        return Table.row(connection.carrid(), connection.connid(), day,
                BigDecimal.valueOf(cents, 2), connection.currency(), connection.currency(),
                plane.type(), plane.seats(), economy, plane.business(), business,
                plane.first(), first, BigDecimal.valueOf(paid, 2), changed);
    }

    /** Between half of the seats and all of them. */
    private int occupied(int seats) {
        return seats - random.nextInt(seats / 2 + 1);
    }

    private static String airport(String code, String name, String city, String country,
            String timeZone) {
        return Table.row(code, name, city, country, timeZone);
    }

    private static String row(Plane plane) {
        return Table.row(plane.type(), plane.name(), plane.seats(), plane.business(),
                plane.first());
    }

    private static String row(Connection it) {
        return Table.row(it.carrid(), it.connid(), it.from(), it.to(), it.departure(),
                it.arrival(), it.days(), it.minutes(), it.distance(), it.unit(),
                it.unit().equals("MI") ? "SMI" : "KMT", "scheduled");
    }

    private static Connection fly(String carrid, String connid, String from, String to,
            String departure, String arrival, int days, int minutes, int distance, String unit,
            String currency) {
        return new Connection(carrid, connid, from, to, departure, arrival, days, minutes,
                distance, unit, currency);
    }
}
