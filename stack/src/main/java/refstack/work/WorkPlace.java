package refstack.work;

import java.sql.SQLException;
import java.util.Locale;
import javax.sql.DataSource;

/** Where pieces of work are done: takes their time, in all and in the database, and counts it. */
final class WorkPlace {

    private static final double NANOS_OF_MS = 1e6;

    private final DataSource source;
    private final int fetchRows;
    private final WorkMetrics metrics;

    WorkPlace(DataSource source, int fetchRows, WorkMetrics metrics) {
        this.source = source;
        this.fetchRows = fetchRows;
        this.metrics = metrics;
    }

    /** A piece of work: its answer as bytes, so that writing it down is part of its time. */
    @FunctionalInterface
    interface Task {

        byte[] run(MeasuredDatabase database) throws SQLException;
    }

    /**
     * What became of a piece of work.
     *
     * @param body          its answer
     * @param nanos         the time it took
     * @param databaseNanos the part of it in the database
     */
    record Done(byte[] body, long nanos, long databaseNanos) {

        /** Both times in ms, as the header {@code Server-Timing} has them. */
        String serverTiming() {
            return String.format(Locale.ROOT, "total;dur=%.3f, db;dur=%.3f",
                    nanos / NANOS_OF_MS, databaseNanos / NANOS_OF_MS);
        }
    }

    Done run(Work work, Task task) throws SQLException {
        long start = System.nanoTime();
        MeasuredDatabase database = new MeasuredDatabase(source, fetchRows);
        byte[] body;
        try (database) {
            body = task.run(database);
        }
        long nanos = System.nanoTime() - start;
        metrics.done(work, nanos, database);
        return new Done(body, nanos, database.nanos());
    }

    void refused(String reason) {
        metrics.refused(reason);
    }
}
