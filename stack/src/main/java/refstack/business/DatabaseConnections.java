package refstack.business;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import refstack.core.TunableLimit;

/** The node's connections to the database: all of them open, whatever their number is set to. */
class DatabaseConnections implements TunableLimit {

    private final HikariDataSource pool;

    DatabaseConnections(HikariDataSource pool) {
        this.pool = pool;
    }

    @Override
    public String name() {
        return "pool";
    }

    @Override
    public int value() {
        return pool.getMaximumPoolSize();
    }

    /** Opens or closes connections; returns when there are as many as asked for. */
    @Override
    public synchronized void set(int value) {
        if (value < 1) {
            throw new IllegalArgumentException(name() + " takes a number above 0");
        }
        if (value == value()) {
            return;
        }
        pool.setMinimumIdle(Math.min(value, pool.getMinimumIdle()));
        pool.setMaximumPoolSize(value);
        pool.setMinimumIdle(value);
        // Idle ones are closed, and those in use when they come back.
        pool.getHikariPoolMXBean().softEvictConnections();
        openAll(value);
    }

    /** Holds as many as there may be for a moment: a pool left alone opens them much later. */
    private void openAll(int value) {
        List<Connection> held = new ArrayList<>(value);
        try {
            while (held.size() < value) {
                held.add(pool.getConnection());
            }
        } catch (SQLException e) {
            throw new IllegalArgumentException("the database gave " + held.size() + " of " + value
                    + " connections: " + e.getMessage(), e);
        } finally {
            held.forEach(DatabaseConnections::giveBack);
        }
    }

    private static void giveBack(Connection connection) {
        try {
            connection.close();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
