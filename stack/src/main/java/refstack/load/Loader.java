package refstack.load;

import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;

/**
 * Creates the tables of the flight sample, and of the larger samples that are asked for, and fills
 * them in one transaction: after it the database has either all of the new data or what it had
 * before.
 */
final class Loader {

    /** Every part has its own tables; those of the flights are the first. */
    private static final List<String> SCHEMAS = List.of(
            "schema.sql", "/refstack/connector/schema.sql", "/refstack/xml/schema.sql",
            "/refstack/events/schema.sql", "/refstack/messaging/schema.sql",
            "/refstack/bindings/schema.sql");

    private final Connection connection;

    Loader(Connection connection) {
        this.connection = connection;
    }

    /**
     * What was loaded.
     *
     * @param seed   the seed it was made from
     * @param rows   rows of each table
     * @param sha256 over the names and the COPY data of all tables in their order
     */
    record Result(long seed, Map<String, Long> rows, String sha256) {

        /** One line of JSON. Names and digest have no character that JSON escapes. */
        String json() {
            StringBuilder line = new StringBuilder("{\"seed\":" + seed + ",\"tables\":{");
            String separator = "";
            for (Map.Entry<String, Long> table : rows.entrySet()) {
                line.append(separator).append('"').append(table.getKey()).append("\":")
                        .append(table.getValue());
                separator = ",";
            }
            return line.append("},\"sha256\":\"").append(sha256).append("\"}").toString();
        }
    }

    /**
     * Tables that only some databases have: others are no larger for them.
     *
     * @param schema how they are created
     * @param tables what is in them
     */
    record Sample(String schema, List<Table> tables) {

        /** A ledger of so many items. */
        static Sample ledger(int items, long seed) {
            return new Sample("ledger.sql", SampleLedger.tables(items, seed));
        }

        /** A business of so many users. */
        static Sample business(int users, long seed) {
            return new Sample("/refstack/business/schema.sql", SampleBusiness.tables(users, seed));
        }
    }

    Result load(int flights, long seed, List<Sample> samples) throws SQLException, IOException {
        List<Table> flightTables = SampleFlights.tables(flights, seed);
        List<Table> sampleTables =
                samples.stream().flatMap(sample -> sample.tables().stream()).toList();
        List<Table> tables = Stream.concat(flightTables.stream(), sampleTables.stream()).toList();
        connection.setAutoCommit(false);
        Map<String, Long> rows = new LinkedHashMap<>();
        try (Statement statement = connection.createStatement()) {
            for (String schema : SCHEMAS) {
                statement.execute(text(schema));
            }
            for (Sample sample : samples) {
                statement.execute(text(sample.schema()));
            }
            CopyManager copy = connection.unwrap(PGConnection.class).getCopyAPI();
            for (Table table : tables) {
                rows.put(table.name(),
                        copy.copyIn(table.copyStatement(), new StringReader(table.copyData())));
            }
            statement.execute("analyze " + names(flightTables));
            connection.commit();
            if (!samples.isEmpty()) {
                // A large new table is otherwise vacuumed by the server itself, in the middle of a
                // measurement, and again in each copy of the database.
                connection.setAutoCommit(true);
                // Else the rows may be counted as new after the vacuum has counted them as done.
                statement.execute("select pg_stat_force_next_flush()");
                statement.execute("vacuum (freeze, analyze) " + names(sampleTables));
            }
        }
        return new Result(seed, rows, sha256(tables));
    }

    private static String names(List<Table> tables) {
        return tables.stream().map(Table::name).collect(Collectors.joining(", "));
    }

    private static String sha256(List<Table> tables) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            for (Table table : tables) {
                digest.update((table.name() + "\n").getBytes(StandardCharsets.UTF_8));
                digest.update(table.copyData().getBytes(StandardCharsets.UTF_8));
            }
            return HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    private static String text(String resource) {
        try (InputStream in = Loader.class.getResourceAsStream(resource)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
