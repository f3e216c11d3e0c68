package refstack.work;

import java.math.BigDecimal;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The job that closes the periods: reads every item, adds up debit and credit by account and
 * period, carries balances forward, and writes them. Some accounts are one transaction; if the job
 * ends early, those that it did are right and it can be run again.
 */
final class Closing {

    private static final String ITEMS = "select account, period, amount from ledger_item "
            + "where account = any(?) order by account, period";
    private static final String ACCOUNTS =
            "select account from ledger_account order by account limit ?";
    private static final String WRITE = """
            insert into ledger_balance (account, period, items, debit, credit, carried)
            values (?, ?, ?, ?, ?, ?)
            on conflict (account, period) do update set items = excluded.items,
              debit = excluded.debit, credit = excluded.credit, carried = excluded.carried,
              closed_at = clock_timestamp()""";
    private static final BigDecimal NOTHING = new BigDecimal("0.00");

    private final MeasuredDatabase database;
    private final int chunk;
    private long items;
    private int balances;
    private int transactions;
    private BigDecimal total = NOTHING;

    Closing(MeasuredDatabase database, int chunk) {
        this.database = database;
        this.chunk = chunk;
    }

    /** Balances of one account, period by period. */
    private static final class Balances {

        private final int account;
        private final int[] items = new int[Ledger.PERIODS];
        private final BigDecimal[] debit = new BigDecimal[Ledger.PERIODS];
        private final BigDecimal[] credit = new BigDecimal[Ledger.PERIODS];

        Balances(int account) {
            this.account = account;
            Arrays.fill(debit, NOTHING);
            Arrays.fill(credit, NOTHING);
        }

        void add(int period, BigDecimal amount) {
            items[period - 1]++;
            if (amount.signum() > 0) {
                debit[period - 1] = debit[period - 1].add(amount);
            } else {
                credit[period - 1] = credit[period - 1].subtract(amount);
            }
        }

        /** Appends a row for each period; returns what is carried out of the last one. */
        BigDecimal rows(List<Object[]> rows) {
            BigDecimal carried = NOTHING;
            for (int i = 0; i < Ledger.PERIODS; i++) {
                carried = carried.add(debit[i]).subtract(credit[i]);
                rows.add(new Object[] {account, i + 1, items[i], debit[i], credit[i], carried});
            }
            return carried;
        }
    }

    record Closed(int accounts, long items, int balances, int transactions, BigDecimal total) {
    }

    /** Closes so many accounts; 0: all. */
    Closed run(int most) throws SQLException {
        List<Integer> accounts = new ArrayList<>();
        database.read(ACCOUNTS, row -> accounts.add(row.getInt(1)),
                most == 0 ? Integer.MAX_VALUE : most);
        if (accounts.isEmpty()) {
            throw Ledger.missing();
        }
        for (int from = 0; from < accounts.size(); from += chunk) {
            close(accounts.subList(from, Math.min(from + chunk, accounts.size())));
        }
        return new Closed(accounts.size(), items, balances, transactions, total);
    }

    private void close(List<Integer> accounts) throws SQLException {
        Map<Integer, Balances> found = new LinkedHashMap<>();
        accounts.forEach(account -> found.put(account, new Balances(account)));
        database.begin();
        database.read(ITEMS, row -> {
            found.get(row.getInt(1)).add(row.getInt(2), row.getBigDecimal(3));
            items++;
        }, (Object) accounts.stream().mapToInt(Integer::intValue).toArray());
        List<Object[]> rows = new ArrayList<>();
        for (Balances balance : found.values()) {
            total = total.add(balance.rows(rows));
        }
        balances += database.write(WRITE, rows);
        database.commit();
        transactions++;
    }
}
