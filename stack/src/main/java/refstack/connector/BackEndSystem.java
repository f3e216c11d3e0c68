package refstack.connector;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import javax.sql.DataSource;

/** The back-end system that every way of calling ends in: it stores a message once. */
class BackEndSystem {

    private static final String INSERT = "insert into connector_message (id, way, bytes) "
            + "values (?, ?, ?) on conflict (id) do nothing";

    private final DataSource database;
    private final int timeoutSeconds;
    private final Map<String, Counter> stored;
    private final Map<String, Counter> duplicates;

    /**
     * Stores into a database.
     *
     * @param timeout longest time that a statement may take; one waits for another transaction of
     *                the same id, which may be undecided
     */
    BackEndSystem(DataSource database, Duration timeout, MeterRegistry registry) {
        this.database = database;
        this.timeoutSeconds = (int) Math.max(1, timeout.toSeconds());
        this.stored = counters("refstack.connector.stored", registry);
        this.duplicates = counters("refstack.connector.duplicates", registry);
    }

    private static Map<String, Counter> counters(String name, MeterRegistry registry) {
        Map<String, Counter> counters = new HashMap<>();
        for (String way : Connector.WAYS) {
            counters.put(way, Counter.builder(name).tag("way", way).register(registry));
        }
        return counters;
    }

    /** Stores a message at once. */
    StoredReceipt store(Message message, String way) throws SQLException {
        try (Connection connection = database.getConnection()) {
            return store(connection, message, way);
        }
    }

    /** Stores a message in the transaction of a connection. */
    StoredReceipt store(Connection connection, Message message, String way) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement(INSERT)) {
            insert.setQueryTimeout(timeoutSeconds);
            insert.setString(1, message.id());
            insert.setString(2, way);
            insert.setInt(3, message.body().length);
            boolean isNew = insert.executeUpdate() == 1;
            (isNew ? stored : duplicates).get(way).increment();
            return new StoredReceipt(message.id(), message.body().length, isNew);
        }
    }

    /** What the database said, for a log. */
    static String inOneLine(SQLException failure) {
        return failure.getMessage().replaceAll("\\s*\\R\\s*", " ");
    }
}
