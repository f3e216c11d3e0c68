package refstack.events;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import javax.sql.DataSource;
import refstack.core.queue.QueueHandler;
import refstack.core.queue.QueuedMessage;

/** Stores each event as one row; a repeated one changes nothing and is counted. */
final class EventStore implements QueueHandler {

    private static final String INSERT = "insert into event "
            + "(id, agent, sequence, tag, value, event_time) values (?, ?, ?, ?, ?, ?) "
            + "on conflict (id) do nothing";

    private final DataSource database;
    private final EventReader reader;
    private final Counter stored;
    private final Counter duplicates;

    EventStore(DataSource database, EventReader reader, MeterRegistry registry) {
        this.database = database;
        this.reader = reader;
        this.stored = registry.counter("refstack.events.events", "outcome", "stored");
        this.duplicates = registry.counter("refstack.events.events", "outcome", "duplicate");
    }

    @Override
    public void handle(QueuedMessage message) throws SQLException {
        Event event = reader.read(message.body(), message.id());
        (store(event) == 1 ? stored : duplicates).increment();
    }

    private int store(Event event) throws SQLException {
        try (Connection connection = database.getConnection();
                PreparedStatement statement = connection.prepareStatement(INSERT)) {
            statement.setString(1, event.id());
            statement.setString(2, event.agent());
            statement.setLong(3, event.sequence());
            statement.setString(4, event.tag());
            statement.setBigDecimal(5, event.value());
            statement.setObject(6, event.time());
            return statement.executeUpdate();
        }
    }
}
