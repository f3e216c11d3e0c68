package refstack.work;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;

/**
 * The database as one piece of work sees it: one connection, borrowed when it is first needed, and
 * the time that its statements take. That is the time in which the driver talks to the database:
 * waiting for a connection of the pool, and reading columns of rows that are there, is not in it.
 */
final class MeasuredDatabase implements AutoCloseable {

    private final DataSource source;
    private final int fetchRows;
    private Connection connection;
    private long nanos;
    private long rows;
    private long statements;

    MeasuredDatabase(DataSource source, int fetchRows) {
        this.source = source;
        this.fetchRows = fetchRows;
    }

    /** Takes one row of a result. */
    @FunctionalInterface
    interface RowReader {

        void read(ResultSet row) throws SQLException;
    }

    /** Something that the driver does with the database. */
    @FunctionalInterface
    private interface Talk<T> {

        T run() throws SQLException;
    }

    /** Begins a transaction, in which large results come a part at a time. */
    void begin() throws SQLException {
        connection().setAutoCommit(false);
    }

    /** Ends the transaction. */
    void commit() throws SQLException {
        timed(() -> {
            connection.commit();
            return null;
        });
        connection.setAutoCommit(true);
    }

    /** Gives every row of a query to the reader. */
    void read(String sql, RowReader reader, Object... arguments) throws SQLException {
        try (PreparedStatement statement = prepare(sql, arguments)) {
            statements++;
            ResultSet result = timed(statement::executeQuery);
            for (long number = 0; step(result, number); number++) {
                rows++;
                reader.read(result);
            }
        }
    }

    /**
     * Goes to the next row. Only a step over the end of what was fetched asks the database; where
     * reading a clock is a system call, as in some guests, timing the others would cost more than
     * they do.
     */
    private boolean step(ResultSet result, long number) throws SQLException {
        return number % fetchRows == 0 ? timed(result::next) : result.next();
    }

    /** Runs a statement that gives no rows. */
    void run(String sql) throws SQLException {
        try (PreparedStatement statement = prepare(sql)) {
            statements++;
            timed(statement::execute);
        }
    }

    /** Runs a statement once for each list of arguments, in one batch; returns rows changed. */
    int write(String sql, List<Object[]> batch) throws SQLException {
        try (PreparedStatement statement = prepare(sql)) {
            for (Object[] arguments : batch) {
                fill(statement, arguments);
                statement.addBatch();
            }
            statements++;
            int changed = 0;
            for (int one : timed(statement::executeBatch)) {
                changed += one;
            }
            return changed;
        }
    }

    private PreparedStatement prepare(String sql, Object... arguments) throws SQLException {
        PreparedStatement statement = connection().prepareStatement(sql);
        try {
            statement.setFetchSize(fetchRows);
            fill(statement, arguments);
            return statement;
        } catch (SQLException e) {
            statement.close();
            throw e;
        }
    }

    private static void fill(PreparedStatement statement, Object... arguments)
            throws SQLException {
        for (int i = 0; i < arguments.length; i++) {
            statement.setObject(i + 1, arguments[i]);
        }
    }

    private Connection connection() throws SQLException {
        if (connection == null) {
            connection = source.getConnection();
        }
        return connection;
    }

    private <T> T timed(Talk<T> talk) throws SQLException {
        long start = System.nanoTime();
        try {
            return talk.run();
        } finally {
            nanos += System.nanoTime() - start;
        }
    }

    /** Time in the database so far. */
    long nanos() {
        return nanos;
    }

    /** Rows read so far. */
    long rows() {
        return rows;
    }

    /** Statements sent so far; a batch is one. */
    long statements() {
        return statements;
    }

    /** Gives the connection back; a transaction that was not committed is rolled back. */
    @Override
    public void close() throws SQLException {
        if (connection != null) {
            try (Connection last = connection) {
                if (!last.getAutoCommit()) {
                    last.rollback();
                    last.setAutoCommit(true);
                }
            }
        }
    }
}
