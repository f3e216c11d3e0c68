package refstack.pages;

import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;

/** Runs the queries of parts for users, each of whom has an airline and a day by its name. */
class PageQueries {

    private static final LocalDate FIRST_DAY = LocalDate.of(2011, 6, 1);
    private static final int DAYS = 8;

    private final JdbcTemplate database;
    private final int maxRows;
    private volatile List<String> airlines;

    PageQueries(JdbcTemplate database, int maxRows) {
        this.database = database;
        this.maxRows = maxRows;
    }

    /** The rows of a part for a user. */
    Result run(String user, int page, int part) {
        Query query = Query.of(page, part);
        int columns = query.columns().size();
        List<List<Object>> rows = database.query(query.sql(), (row, number) -> {
            List<Object> values = new ArrayList<>(columns);
            for (int i = 1; i <= columns; i++) {
                values.add(row.getObject(i));
            }
            return values;
        }, airlineOf(user), dayOf(user, page).toString(), maxRows);
        return new Result(page, part, rows);
    }

    /** Airlines that have flights, read once: they never change while a node runs. */
    private String airlineOf(String user) {
        List<String> known = airlines;
        if (known == null) {
            known = database.queryForList(
                    "select distinct carrid from flight order by carrid", String.class);
            airlines = known;
        }
        return known.isEmpty() ? "" : known.get(Math.floorMod(user.hashCode(), known.size()));
    }

    private static LocalDate dayOf(String user, int page) {
        return FIRST_DAY.plusDays(Math.floorMod(user.hashCode() / 31 + page, DAYS));
    }
}
