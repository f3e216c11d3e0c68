package refstack.work;

import java.math.BigDecimal;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Counting the ledger, and reading of it what was selected. */
final class Queries {

    static final int SHOWN = 100;

    private static final String COUNT = "select count(cost_center) from ledger_item";
    private static final String SELECTION = "select document, line, period, amount, text "
            + "from ledger_item where account = ? and period between ? and ? "
            + "order by document, line";

    record Count(long count) {
    }

    record Item(int document, int line, int period, BigDecimal amount, String text) {
    }

    record Selection(int account, int from, int to, long count, BigDecimal total,
            List<Item> items) {
    }

    private Queries() {
    }

    /** Counts by reading the whole table: no index holds the column. */
    static Count count(MeasuredDatabase database) throws SQLException {
        long[] found = new long[1];
        database.read(COUNT, row -> found[0] = row.getLong(1));
        if (found[0] == 0) {
            throw Ledger.missing();
        }
        return new Count(found[0]);
    }

    /** Reads all items of an account and some periods; gives their total and the first of them. */
    static Selection selection(MeasuredDatabase database, int account, int from, int to)
            throws SQLException {
        List<Item> shown = new ArrayList<>();
        long[] count = new long[1];
        BigDecimal[] total = {new BigDecimal("0.00")};
        database.read(SELECTION, row -> {
            count[0]++;
            total[0] = total[0].add(row.getBigDecimal(4));
            if (shown.size() < SHOWN) {
                shown.add(new Item(row.getInt(1), row.getInt(2), row.getInt(3),
                        row.getBigDecimal(4), row.getString(5)));
            }
        }, account, Ledger.period(from), Ledger.period(to));
        return new Selection(account, from, to, count[0], total[0], shown);
    }
}
