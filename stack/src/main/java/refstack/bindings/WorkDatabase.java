package refstack.bindings;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import javax.sql.DataSource;
import refstack.core.BackendUnavailableException;

/** What the receiver does in the database: a statement that takes its time, a row. */
class WorkDatabase {

    private static final String PAUSE = "select pg_sleep(?)";
    private static final String INSERT = "insert into binding_message (id, way, bytes) "
            + "values (?, ?, ?) on conflict (id) do nothing";
    private static final double MILLIS = 1e3;

    private final DataSource database;

    /** Null in a node that has none. */
    WorkDatabase(DataSource database) {
        this.database = database;
    }

    boolean isThere() {
        return database != null;
    }

    /**
     * Does the database's part of the work, with one connection.
     *
     * @throws BackendUnavailableException if the database cannot be used, or there is none
     */
    void work(String way, Payload payload) {
        if (!payload.work().needsDatabase()) {
            return;
        }
        if (database == null) {
            throw new BackendUnavailableException("This node has no database.", null);
        }
        try (Connection connection = database.getConnection()) {
            if (payload.work().pauseMillis() > 0) {
                pause(connection, payload.work().pauseMillis() / MILLIS);
            }
            if (payload.work().hasRow()) {
                insert(connection, way, payload);
            }
        } catch (SQLException e) {
            throw new BackendUnavailableException("The receiver's database cannot be used.", e);
        }
    }

    private static void pause(Connection connection, double seconds) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(PAUSE)) {
            statement.setDouble(1, seconds);
            statement.executeQuery().close();
        }
    }

    private static void insert(Connection connection, String way, Payload payload)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(INSERT)) {
            statement.setString(1, payload.id());
            statement.setString(2, way);
            statement.setInt(3, payload.body().length);
            statement.executeUpdate();
        }
    }
}
