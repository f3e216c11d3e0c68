package refstack.work;

import java.math.BigDecimal;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import refstack.answers.Refusal;
import refstack.work.Ledger.Group;

/**
 * A report about a group of accounts in three stages: balances by account and period, the items of
 * one period a page at a time, and all items rendered as a list for print.
 */
final class Report {

    static final int MAX_PAGE_ROWS = 1000;

    private static final String SUMMARY = """
            select account, name, period, count(*),
              coalesce(sum(amount) filter (where amount > 0), 0.00),
              coalesce(-sum(amount) filter (where amount < 0), 0.00), sum(amount)
            from ledger_item join ledger_account using (account)
            where account between ? and ?
            group by account, name, period order by account, period""";
    private static final String COUNT = "select count(*), coalesce(sum(amount), 0.00) "
            + "from ledger_item where account between ? and ? and period = ?";
    private static final String ITEMS = """
            select i.account, i.document, i.line, d.posted_on::text, d.kind, i.amount, i.text
            from ledger_item i join ledger_document d using (document)
            where i.account between ? and ? and i.period = ?
            order by i.account, i.document, i.line offset ? limit ?""";
    private static final String ALL = """
            select i.account, a.name, i.document, i.line, d.posted_on::text, d.kind, i.amount,
              i.cost_center, i.text
            from ledger_item i join ledger_document d using (document)
            join ledger_account a using (account)
            where i.account between ? and ?
            order by i.account, i.document, i.line""";

    private static final List<String> BALANCE =
            List.of("account", "name", "period", "items", "debit", "credit", "balance");
    private static final List<String> ITEM =
            List.of("account", "document", "line", "postedOn", "kind", "amount", "text");

    record Summary(int group, long items, BigDecimal total, List<String> columns,
            List<List<Object>> balances) {
    }

    record Items(int group, int period, int page, long count, BigDecimal total,
            List<String> columns, List<List<Object>> items) {
    }

    record Printed(int group, long count, BigDecimal total, int pages, int bytes, String checksum,
            String firstPage) {
    }

    private Report() {
    }

    /** The first stage. */
    static Summary summary(MeasuredDatabase database, Group group)
            throws SQLException {
        List<List<Object>> balances = new ArrayList<>();
        long[] items = new long[1];
        BigDecimal[] total = {new BigDecimal("0.00")};
        database.read(SUMMARY, row -> {
            items[0] += row.getLong(4);
            total[0] = total[0].add(row.getBigDecimal(7));
            balances.add(List.of(row.getInt(1), row.getString(2), row.getInt(3), row.getLong(4),
                    row.getBigDecimal(5), row.getBigDecimal(6), row.getBigDecimal(7)));
        }, group.first(), group.last());
        return new Summary(group.id(), items[0], total[0], BALANCE, balances);
    }

    /** The second stage: one page of the items of a period, and how many there are. */
    static Items items(MeasuredDatabase database, Group group, int period, int page,
            int rows) throws SQLException {
        if (page < 1 || page > 1 << 20 || rows < 1 || rows > MAX_PAGE_ROWS) {
            throw Refusal.malformed("page must be 1 or more, and rows from 1 to "
                    + MAX_PAGE_ROWS + ".");
        }
        long[] count = new long[1];
        BigDecimal[] total = new BigDecimal[1];
        database.read(COUNT, row -> {
            count[0] = row.getLong(1);
            total[0] = row.getBigDecimal(2);
        }, group.first(), group.last(), Ledger.period(period));
        List<List<Object>> items = new ArrayList<>();
        database.read(ITEMS, row -> items.add(List.of(row.getInt(1), row.getInt(2), row.getInt(3),
                row.getString(4), row.getString(5), row.getBigDecimal(6), row.getString(7))),
                group.first(), group.last(), period, (page - 1) * rows, rows);
        return new Items(group.id(), period, page, count[0], total[0], ITEM, items);
    }

    /** The third stage: every item in the list; the answer has its first page and its sum. */
    static Printed all(MeasuredDatabase database, Group group) throws SQLException {
        PrintedList list = new PrintedList();
        database.begin();
        database.read(ALL, row -> list.add(row.getInt(1), row.getString(2), row.getInt(3),
                row.getInt(4), row.getString(5), row.getString(6), row.getBigDecimal(7),
                row.getInt(8), row.getString(9)), group.first(), group.last());
        database.commit();
        list.end();
        return new Printed(group.id(), list.items(), list.total(), list.pages(), list.bytes(),
                list.checksum(), list.firstPage());
    }
}
