package refstack.local;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.TransactionException;
import refstack.core.BackendTimeoutException;
import refstack.core.BackendUnavailableException;
import refstack.core.Flight;
import refstack.core.FlightBackend;
import refstack.core.FlightKey;
import refstack.core.FlightSummary;

/** Flights by one query each: the list joins four tables, the detail six. */
class LocalBackend implements FlightBackend {

    private static final String LIST = """
            select f.carrid, f.connid, f.fldate, c.name airline, n.airport_from, a.city city_from,
                   n.airport_to, z.city city_to, n.departure_time, n.arrival_time,
                   f.price, f.currency, f.changed_at
              from flight f
              join carrier c on c.carrid = f.carrid
              join connection n on n.carrid = f.carrid and n.connid = f.connid
              join airport a on a.code = n.airport_from
              join airport z on z.code = n.airport_to
             order by f.carrid, f.connid, f.fldate""";

    private static final String DETAIL = """
            select f.*, c.name airline, n.*, p.name plane_name,
                   a.name name_from, a.city city_from, a.country country_from,
                   a.time_zone time_zone_from,
                   z.name name_to, z.city city_to, z.country country_to, z.time_zone time_zone_to
              from flight f
              join carrier c on c.carrid = f.carrid
              join connection n on n.carrid = f.carrid and n.connid = f.connid
              join plane p on p.plane_type = f.plane_type
              join airport a on a.code = n.airport_from
              join airport z on z.code = n.airport_to
             where f.carrid = ? and f.connid = ? and f.fldate = ?""";

    private final JdbcTemplate template;
    private final JdbcClient client;

    LocalBackend(JdbcTemplate template) {
        this.template = template;
        this.client = JdbcClient.create(template);
    }

    @Override
    public List<FlightSummary> list() {
        return translating(() -> template.query(LIST, (row, number) -> summary(row)));
    }

    @Override
    public Optional<Flight> detail(FlightKey key) {
        return translating(() -> client.sql(DETAIL)
                .param(key.carrid()).param(key.connid()).param(key.fldate())
                .query((row, number) -> flight(row))
                .optional());
    }

    /** Runs a query; its failures become those that {@link FlightBackend} names. */
    static <T> T translating(Supplier<T> query) {
        try {
            return query.get();
        } catch (QueryTimeoutException e) {
            throw new BackendTimeoutException("The database did not answer in time.", e);
        } catch (DataAccessResourceFailureException | TransactionException e) {
            throw new BackendUnavailableException("The database cannot be reached.", e);
        } catch (DataAccessException e) {
            throw new BackendUnavailableException("The database refused the query.", e);
        }
    }

    private static FlightSummary summary(ResultSet row) throws SQLException {
        return new FlightSummary(
                row.getString("carrid"),
                row.getString("connid"),
                row.getObject("fldate", LocalDate.class),
                row.getString("airline"),
                row.getString("airport_from"),
                row.getString("city_from"),
                row.getString("airport_to"),
                row.getString("city_to"),
                row.getObject("departure_time", LocalTime.class),
                row.getObject("arrival_time", LocalTime.class),
                row.getBigDecimal("price"),
                row.getString("currency"),
                row.getObject("changed_at", OffsetDateTime.class).toInstant());
    }

    private static Flight flight(ResultSet row) throws SQLException {
        LocalDate fldate = row.getObject("fldate", LocalDate.class);
        return new Flight(
                row.getString("carrid"),
                row.getString("connid"),
                fldate,
                row.getString("airline"),
                row.getString("airport_from"),
                row.getString("name_from"),
                row.getString("city_from"),
                row.getString("country_from"),
                row.getString("time_zone_from"),
                row.getString("airport_to"),
                row.getString("name_to"),
                row.getString("city_to"),
                row.getString("country_to"),
                row.getString("time_zone_to"),
                row.getObject("departure_time", LocalTime.class),
                row.getObject("arrival_time", LocalTime.class),
                fldate.plusDays(row.getInt("arrival_days")),
                row.getInt("flight_time"),
                row.getInt("distance"),
                row.getString("distance_unit"),
                row.getString("distance_unit_iso"),
                row.getString("flight_type"),
                row.getString("plane_type"),
                row.getString("plane_name"),
                row.getBigDecimal("price"),
                row.getString("currency"),
                row.getString("currency_iso"),
                row.getInt("seats_max"),
                row.getInt("seats_occupied"),
                row.getInt("business_seats_max"),
                row.getInt("business_seats_occupied"),
                row.getInt("first_seats_max"),
                row.getInt("first_seats_occupied"),
                row.getBigDecimal("payment_sum"),
                row.getObject("changed_at", OffsetDateTime.class).toInstant());
    }
}
