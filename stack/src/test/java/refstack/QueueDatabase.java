package refstack;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
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
        return TestNode.withDatabaseAt(url, Stream.concat(Stream.of(settings), Stream.of(
                "--refstack.parts=" + part, "--refstack.node.data=" + folder))
                .toArray(String[]::new));
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
        return Long.parseLong(TestDatabase.ask(url, sql));
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
