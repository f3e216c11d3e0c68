package refstack.work;

import java.math.BigDecimal;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Counting the ledger, and reading of it what was selected. */
final class Queries {

    static final int SHOWN = 100;

    private static final String COUNT = "select count(cost_center) from ledger_item";
    private static final String SELECTION = "select document, line, period, amount, text "
            + "from ledger_item where account = ? and period between ? and ? "
            + "order by document, line";

    private Queries() {
    }

    /** Counts by reading the whole table: no index holds the column. */
    static Map<String, Object> count(MeasuredDatabase database) throws SQLException {
        long[] found = new long[1];
        database.read(COUNT, row -> found[0] = row.getLong(1));
        if (found[0] == 0) {
            throw WorkException.noLedger();
        }
        return Map.of("count", found[0]);
    }

    /** Reads all items of an account and some periods; gives their total and the first of them. */
    static Map<String, Object> selection(MeasuredDatabase database, int account, int from, int to)
            throws SQLException {
        List<Map<String, Object>> shown = new ArrayList<>();
        long[] count = new long[1];
        BigDecimal[] total = {new BigDecimal("0.00")};
        database.read(SELECTION, row -> {
            count[0]++;
            total[0] = total[0].add(row.getBigDecimal(4));
            if (shown.size() < SHOWN) {
                Map<String, Object> item = new LinkedHashMap<>();
                item.put("document", row.getInt(1));
                item.put("line", row.getInt(2));
                item.put("period", row.getInt(3));
                item.put("amount", row.getBigDecimal(4));
                item.put("text", row.getString(5));
                shown.add(item);
            }
        }, account, Ledger.period(from), Ledger.period(to));
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("account", account);
        answer.put("from", from);
        answer.put("to", to);
        answer.put("count", count[0]);
        answer.put("total", total[0]);
        answer.put("items", shown);
        return answer;
    }
}
