package refstack.messaging;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import javax.sql.DataSource;
import refstack.core.queue.QueueHandler;
import refstack.core.queue.QueuedMessage;

/** Stores each message as one row, in a transaction of its own; one that is there stays as it is. */
final class MessageStore implements QueueHandler {

    private static final String INSERT = "insert into messaging_row (id, bytes) values (?, ?) "
            + "on conflict (id) do nothing";

    private final DataSource database;
    private final Counter stored;
    private final Counter duplicates;

    MessageStore(DataSource database, MeterRegistry registry) {
        this.database = database;
        this.stored = registry.counter("refstack.messaging.messages", "outcome", "stored");
        this.duplicates = registry.counter("refstack.messaging.messages",
                "outcome", "duplicate");
    }

    @Override
    public void handle(QueuedMessage message) throws SQLException {
        int rows;
        try (Connection connection = database.getConnection();
                PreparedStatement statement = connection.prepareStatement(INSERT)) {
            statement.setString(1, message.id());
            statement.setInt(2, message.body().length);
            rows = statement.executeUpdate();
        }
        (rows == 1 ? stored : duplicates).increment();
    }

    long stored() {
        return (long) stored.count();
    }

    long duplicates() {
        return (long) duplicates.count();
    }
}
