package refstack.work;

import java.math.BigDecimal;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * The items of some documents with the names of their accounts: a statement for each document and
 * for each item, nested, or one statement over a view that joins the three tables.
 */
record ViewPair(LedgerShape shape) implements Pair {

    static final int DOCUMENTS = 50;

    private static final String DOCUMENT = "select document, posted_on::text, kind "
            + "from ledger_document where document between ? and ? order by document";
    private static final String ITEM =
            "select line, account, amount from ledger_item where document = ? order by line";
    private static final String ACCOUNT =
            "select name, currency from ledger_account where account = ?";
    private static final String VIEW = "select document, line, posted_on::text, kind, account, "
            + "name, currency, amount from ledger_posting where document between ? and ? "
            + "order by document, line";

    private record Head(int document, String postedOn, String kind) {
    }

    private record Item(int line, int account, BigDecimal amount) {
    }

    @Override
    public String name() {
        return "view";
    }

    @Override
    public String naive(MeasuredDatabase database, int key) throws SQLException {
        int first = shape.of(database).documentOf(key, DOCUMENTS);
        Totals totals = new Totals();
        List<Head> heads = new ArrayList<>();
        database.read(DOCUMENT, row -> heads.add(
                new Head(row.getInt(1), row.getString(2), row.getString(3))),
                first, first + DOCUMENTS - 1);
        for (Head head : heads) {
            List<Item> items = new ArrayList<>();
            database.read(ITEM, row -> items.add(
                    new Item(row.getInt(1), row.getInt(2), row.getBigDecimal(3))),
                    head.document());
            for (Item item : items) {
                database.read(ACCOUNT, row -> totals.add(item.amount(), head.document(),
                        item.line(), head.postedOn(), head.kind(), item.account(),
                        row.getString(1), row.getString(2), item.amount()), item.account());
            }
        }
        return totals.toString();
    }

    @Override
    public String better(MeasuredDatabase database, int key) throws SQLException {
        int first = shape.of(database).documentOf(key, DOCUMENTS);
        Totals totals = new Totals();
        database.read(VIEW, row -> totals.add(row.getBigDecimal(8), row.getInt(1), row.getInt(2),
                row.getString(3), row.getString(4), row.getInt(5), row.getString(6),
                row.getString(7), row.getBigDecimal(8)), first, first + DOCUMENTS - 1);
        return totals.toString();
    }
}
