package refstack.work;

import java.math.BigDecimal;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import refstack.work.Ledger.Group;

/**
 * What items need to know of their accounts: selected anew for each item, or supplied by a context
 * that reads each account once and keeps it for as long as this piece of work lasts.
 */
record ContextPair(LedgerShape shape) implements Pair {

    static final int ITEMS = 200;

    private static final String ITEM = "select account, amount from ledger_item "
            + "where account between ? and ? and period = ? order by document, line limit ?";
    private static final String ACCOUNT =
            "select name, currency from ledger_account where account = ?";

    private record Item(int account, BigDecimal amount) {
    }

    private record Account(String name, String currency) {
    }

    @Override
    public String name() {
        return "context";
    }

    @Override
    public String naive(MeasuredDatabase database, int key) throws SQLException {
        Totals totals = new Totals();
        for (Item item : items(database, key)) {
            add(totals, item, account(database, item.account()));
        }
        return totals.toString();
    }

    @Override
    public String better(MeasuredDatabase database, int key) throws SQLException {
        Totals totals = new Totals();
        Map<Integer, Account> context = new HashMap<>();
        for (Item item : items(database, key)) {
            Account known = context.get(item.account());
            if (known == null) {
                known = account(database, item.account());
                context.put(item.account(), known);
            }
            add(totals, item, known);
        }
        return totals.toString();
    }

    private List<Item> items(MeasuredDatabase database, int key) throws SQLException {
        Group group = shape.of(database).groupOf(key);
        List<Item> items = new ArrayList<>();
        database.read(ITEM, row -> items.add(new Item(row.getInt(1), row.getBigDecimal(2))),
                group.first(), group.last(), Ledger.periodOf(key), ITEMS);
        return items;
    }

    private static Account account(MeasuredDatabase database, int number) throws SQLException {
        Account[] found = new Account[1];
        database.read(ACCOUNT, row -> found[0] = new Account(row.getString(1), row.getString(2)),
                number);
        return found[0];
    }

    private static void add(Totals totals, Item item, Account account) {
        totals.add(item.amount(), item.account(), account.name(), account.currency(),
                item.amount());
    }
}
