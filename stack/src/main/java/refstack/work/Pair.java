package refstack.work;

import java.sql.SQLException;

/** Two ways of one piece of work, with the same result: one that costs more, and a better one. */
interface Pair {

    /** Name in the path and in metrics. */
    String name();

    /** The way that is easy to write. */
    String naive(MeasuredDatabase database, int key) throws SQLException;

    /** The way that leaves the work to whom it costs least. */
    String better(MeasuredDatabase database, int key) throws SQLException;
}
