package refstack;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import refstack.load.LoadForTests;

/** A loaded database of its own for tests of queues, and what they ask it. */
final class QueueDatabase {

    private final String url;

    QueueDatabase(String name) {
        try {
            url = TestDatabase.emptyUrl(name);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        LoadForTests.load(url);
    }

    /** A node with one part over this database, its broker's data in a folder. */
    TestNode node(String part, Object folder, String... settings) {
        String[] all = new String[settings.length + 5];
        System.arraycopy(settings, 0, all, 0, settings.length);
        all[settings.length] = "--refstack.parts=" + part;
        all[settings.length + 1] = "--refstack.node.data=" + folder;
        all[settings.length + 2] = "--spring.datasource.url=" + url;
        all[settings.length + 3] = "--spring.datasource.username=postgres";
        all[settings.length + 4] = "--spring.datasource.hikari.maximum-pool-size=4";
        return TestNode.withoutDatabase(all);
    }

    void execute(String sql) {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    long number(String sql) {
        try (Connection connection = DriverManager.getConnection(url);
                ResultSet row = connection.createStatement().executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Waits until something is so; a minute is far more than it needs on any machine. */
    static void await(String what, BooleanSupplier isSo) {
        long end = System.nanoTime() + Duration.ofMinutes(1).toNanos();
        while (!isSo.getAsBoolean()) {
            if (System.nanoTime() > end) {
                throw new AssertionError("not within a minute: " + what);
            }
            try {
                Thread.sleep(20);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
