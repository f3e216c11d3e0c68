package refstack.work;

import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The job that has the database sample its tables anew for the planner. */
final class Statistics {

    private static final List<String> TABLES =
            List.of("ledger_account", "ledger_document", "ledger_item");
    private static final String FOUND =
            "select relname, reltuples::bigint from pg_class where relname = any(?) order by 1";

    record Sampled(Map<String, Long> tables) {
    }

    private Statistics() {
    }

    static Sampled run(MeasuredDatabase database) throws SQLException {
        for (String table : TABLES) {
            database.run("analyze " + table);
        }
        Map<String, Long> rows = new LinkedHashMap<>();
        database.read(FOUND, row -> rows.put(row.getString(1), row.getLong(2)),
                (Object) TABLES.toArray(String[]::new));
        return new Sampled(rows);
    }
}
