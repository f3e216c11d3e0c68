package refstack.work;

import java.math.BigDecimal;
import java.sql.SQLException;
import refstack.work.Ledger.Group;

/** Number, sum and largest amount of a group's items: added up here, or by the database. */
record AggregatePair(LedgerShape shape) implements Pair {

    private static final String ROWS =
            "select amount from ledger_item where account between ? and ?";
    private static final String AGGREGATE = "select count(*), coalesce(sum(amount), 0.00), "
            + "coalesce(max(amount), 0.00) from ledger_item where account between ? and ?";

    @Override
    public String name() {
        return "aggregates";
    }

    @Override
    public String naive(MeasuredDatabase database, int key) throws SQLException {
        Group group = group(database, key);
        long[] count = new long[1];
        BigDecimal[] sum = {new BigDecimal("0.00"), new BigDecimal("0.00")};
        database.read(ROWS, row -> {
            BigDecimal amount = row.getBigDecimal(1);
            sum[0] = sum[0].add(amount);
            sum[1] = count[0] == 0 ? amount : sum[1].max(amount);
            count[0]++;
        }, group.first(), group.last());
        return text(count[0], sum[0], sum[1]);
    }

    @Override
    public String better(MeasuredDatabase database, int key) throws SQLException {
        Group group = group(database, key);
        String[] result = new String[1];
        database.read(AGGREGATE, row -> result[0] =
                text(row.getLong(1), row.getBigDecimal(2), row.getBigDecimal(3)),
                group.first(), group.last());
        return result[0];
    }

    private Group group(MeasuredDatabase database, int key) throws SQLException {
        return shape.of(database).groupOf(key);
    }

    private static String text(long count, BigDecimal sum, BigDecimal largest) {
        return count + " items, " + sum + ", at most " + largest;
    }
}
