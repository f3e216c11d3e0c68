package refstack.work;

import java.math.BigDecimal;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import refstack.work.Ledger.Group;

/**
 * The largest item of each account of a group in a period: the largest amounts first and then a
 * statement for each account, or one statement with a subquery.
 */
record SubqueryPair(LedgerShape shape) implements Pair {

    private static final String LARGEST = "select account, max(amount) from ledger_item "
            + "where account between ? and ? and period = ? group by account order by account";
    private static final String WITH_AMOUNT = "select document, line from ledger_item "
            + "where account = ? and period = ? and amount = ? order by document, line";
    private static final String SUBQUERY = """
            select i.account, i.document, i.line, i.amount from ledger_item i
            where i.account between ? and ? and i.period = ? and i.amount =
              (select max(m.amount) from ledger_item m
               where m.account = i.account and m.period = i.period)
            order by i.account, i.document, i.line""";

    private record Largest(int account, BigDecimal amount) {
    }

    @Override
    public String name() {
        return "subqueries";
    }

    @Override
    public String naive(MeasuredDatabase database, int key) throws SQLException {
        Group group = shape.of(database).groupOf(key);
        int period = Ledger.periodOf(key);
        List<Largest> found = new ArrayList<>();
        database.read(LARGEST, row -> found.add(new Largest(row.getInt(1), row.getBigDecimal(2))),
                group.first(), group.last(), period);
        Totals totals = new Totals();
        for (Largest one : found) {
            database.read(WITH_AMOUNT, row -> totals.add(one.amount(), one.account(),
                    row.getInt(1), row.getInt(2)), one.account(), period, one.amount());
        }
        return totals.toString();
    }

    @Override
    public String better(MeasuredDatabase database, int key) throws SQLException {
        Group group = shape.of(database).groupOf(key);
        Totals totals = new Totals();
        database.read(SUBQUERY, row -> totals.add(row.getBigDecimal(4), row.getInt(1),
                row.getInt(2), row.getInt(3)), group.first(), group.last(), Ledger.periodOf(key));
        return totals.toString();
    }
}
