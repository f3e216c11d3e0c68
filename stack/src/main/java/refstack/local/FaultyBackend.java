package refstack.local;

import java.time.LocalDate;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;
import refstack.core.Flight;
import refstack.core.FlightBackend;
import refstack.core.FlightKey;
import refstack.core.FlightSummary;

/**
 * Lets the details of the first flights time out in the database: a {@code pg_sleep} of twice
 * the delay under a statement time-out of the delay. The thread, the connection and the database
 * process are really held for that long, as with a query that hangs.
 */
class FaultyBackend implements FlightBackend {

    private static final String FIRST = """
            select carrid, connid, fldate from flight
             order by carrid, connid, fldate limit ?""";

    private final FlightBackend origin;
    private final FaultProperties fault;
    private final JdbcTemplate template;
    private final TransactionTemplate transaction;
    private volatile Set<FlightKey> faulty;

    FaultyBackend(FlightBackend origin, FaultProperties fault, JdbcTemplate template,
            TransactionTemplate transaction) {
        this.origin = origin;
        this.fault = fault;
        this.template = template;
        this.transaction = transaction;
    }

    @Override
    public List<FlightSummary> list() {
        return origin.list();
    }

    @Override
    public Optional<Flight> detail(FlightKey key) {
        if (faultyKeys().contains(key)) {
            LocalBackend.translating(() -> transaction.execute(status -> hang()));
        }
        return origin.detail(key);
    }

    private Object hang() {
        long millis = fault.delay().toMillis();
        template.execute("set local statement_timeout = " + millis);
        return template.queryForObject("select pg_sleep(?)::text", String.class,
                2 * millis / 1000.0);
    }

    private Set<FlightKey> faultyKeys() {
        Set<FlightKey> known = faulty;
        if (known == null) {
            known = LocalBackend.translating(() -> Set.copyOf(template.query(FIRST,
                    (row, number) -> new FlightKey(row.getString(1), row.getString(2),
                            row.getObject(3, LocalDate.class)),
                    fault.flights())));
            faulty = known;
        }
        return known;
    }
}
