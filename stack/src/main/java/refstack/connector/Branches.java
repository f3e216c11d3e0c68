package refstack.connector;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import refstack.core.NamedThreads;

/**
 * The back end's parts of its callers' transactions. A branch keeps a connection of the database
 * pool until it is prepared (PostgreSQL's two-phase commit) or rolled back. One that is not
 * prepared dies with the connection of the caller that began it, or of old age; a prepared one
 * waits for its transaction manager, whatever happens here.
 */
class Branches implements AutoCloseable {

    private static final Logger LOGGER = LoggerFactory.getLogger(Branches.class);
    private static final String UNDEFINED_OBJECT = "42704";
    private static final int SWEEP_SECONDS = 5;

    private final DataSource database;
    private final BackEndSystem system;
    private final Map<String, Open> open = new ConcurrentHashMap<>();
    private final ScheduledExecutorService sweeper =
            Executors.newSingleThreadScheduledExecutor(NamedThreads.of("branches"));
    private final Counter prepared;
    private final Counter committed;
    private final Counter rolledBack;
    private final Counter abandoned;

    /** A branch that is not prepared yet. */
    private record Open(Connection connection, Object owner, long sinceNanos) {
    }

    /**
     * Branches in a database.
     *
     * @param maxAge longest life of a branch that is not prepared
     */
    Branches(DataSource database, BackEndSystem system, Duration maxAge, MeterRegistry registry) {
        this.database = database;
        this.system = system;
        this.prepared = counter(registry, "prepared");
        this.committed = counter(registry, "committed");
        this.rolledBack = counter(registry, "rolled-back");
        this.abandoned = counter(registry, "abandoned");
        Gauge.builder("refstack.connector.branches.open", open::size).tag("way", "logged")
                .register(registry);
        sweeper.scheduleWithFixedDelay(() -> abandon(
                branch -> System.nanoTime() - branch.sinceNanos() > maxAge.toNanos()),
                SWEEP_SECONDS, SWEEP_SECONDS, TimeUnit.SECONDS);
    }

    private static Counter counter(MeterRegistry registry, String outcome) {
        return Counter.builder("refstack.connector.branches").tag("outcome", outcome)
                .register(registry);
    }

    /** Stores a message in a branch, which begins with its first message. */
    StoredReceipt store(String name, Object owner, Message message, String way)
            throws SQLException {
        checkPlain(name);
        Open branch = open.get(name);
        if (branch == null) {
            Connection connection = database.getConnection();
            connection.setAutoCommit(false);
            branch = new Open(connection, owner, System.nanoTime());
            open.put(name, branch);
        }
        try {
            return system.store(branch.connection(), message, way);
        } catch (SQLException e) {
            rollback(name);
            throw e;
        }
    }

    /** Makes a branch durable, still undecided; false if it is not open here. */
    boolean prepare(String name) throws SQLException {
        checkPlain(name);
        Open branch = open.remove(name);
        if (branch == null) {
            return false;
        }
        try (Connection connection = branch.connection();
                Statement statement = connection.createStatement()) {
            statement.execute("prepare transaction '" + name + "'");
            connection.setAutoCommit(true);
        }
        prepared.increment();
        return true;
    }

    /** Commits a prepared branch; false if there is none of the name. */
    boolean commit(String name) throws SQLException {
        checkPlain(name);
        boolean isFound = end("commit prepared '" + name + "'");
        if (isFound) {
            committed.increment();
        }
        return isFound;
    }

    /** Rolls a branch back, prepared or not; false if there is none of the name. */
    boolean rollback(String name) throws SQLException {
        checkPlain(name);
        Open branch = open.remove(name);
        if (branch != null) {
            undo(branch);
        } else if (!end("rollback prepared '" + name + "'")) {
            return false;
        }
        rolledBack.increment();
        return true;
    }

    /** Rolls back what a caller that has gone left open. */
    void abandon(Object owner) {
        abandon(branch -> branch.owner() == owner);
    }

    /** Names of the branches that are prepared and undecided. */
    List<String> prepared() throws SQLException {
        List<String> names = new ArrayList<>();
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("select gid from pg_prepared_xacts "
                        + "where database = current_database() order by gid")) {
            while (rows.next()) {
                names.add(rows.getString(1));
            }
        }
        return names;
    }

    @Override
    public void close() {
        sweeper.shutdownNow();
    }

    private void abandon(Predicate<Open> isOver) {
        open.forEach((name, branch) -> {
            if (isOver.test(branch) && open.remove(name, branch)) {
                abandoned.increment();
                try {
                    undo(branch);
                } catch (SQLException e) {
                    LOGGER.warn("branch {} not rolled back: {}", name,
                            BackEndSystem.inOneLine(e));
                }
            }
        });
    }

    private static void undo(Open branch) throws SQLException {
        try (Connection connection = branch.connection()) {
            connection.rollback();
            connection.setAutoCommit(true);
        }
    }

    private boolean end(String words) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(words);
            return true;
        } catch (SQLException e) {
            if (UNDEFINED_OBJECT.equals(e.getSQLState())) {
                return false;
            }
            throw e;
        }
    }

    /** A branch's name becomes a literal. */
    private static void checkPlain(String name) {
        if (!name.matches("[0-9a-f.]{1,199}")) {
            throw new IllegalArgumentException("A branch's name has digits, letters a to f, points"
                    + " and at most 199 of them.");
        }
    }
}
