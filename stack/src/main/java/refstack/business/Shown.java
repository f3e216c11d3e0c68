package refstack.business;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** An order on its way from the rows of a query to a page. */
final class Shown {

    private final long order;
    private final Page page;
    private final List<List<Object>> lines = new ArrayList<>();

    Shown(long order, Page page) {
        this.order = order;
        this.page = page;
    }

    /** Takes a line; each row has the order's own values too. */
    void read(ResultSet row) throws SQLException {
        if (lines.isEmpty()) {
            page.output("order", order).output("customer", row.getInt(1))
                    .output("state", row.getString(2)).money("total", row.getLong(3))
                    .text("name", row.getString(4));
        }
        lines.add(List.of(row.getInt(5), row.getString(6), row.getInt(7), row.getInt(8),
                Money.text(row.getInt(9)), Money.text(row.getLong(8) * row.getInt(9))));
    }

    void finish() {
        if (lines.isEmpty()) {
            throw BusinessException.unknown("order", order);
        }
        page.output("lines", lines.size()).table("item",
                List.of("Item", "Name", "Branch", "Quantity", "Price", "Total"), lines);
    }
}
