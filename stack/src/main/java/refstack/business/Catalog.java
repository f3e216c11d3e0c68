package refstack.business;

import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;

/** What is sold, and what of it is there. */
class Catalog {

    private final JdbcTemplate database;

    Catalog(JdbcTemplate database) {
        this.database = database;
    }

    /** Items whose names begin so, 20 at most. */
    void search(Prefix prefix, Page page) {
        List<List<Object>> rows = database.query("""
                select item, name, price from business_item
                where name collate "C" >= ? and name collate "C" < ?
                order by name collate "C" limit 20""",
                (row, number) -> List.of(row.getInt(1), row.getString(2),
                        Money.text(row.getInt(3))),
                prefix.first(), prefix.after());
        page.output("count", rows.size()).table("item", List.of("Item", "Name", "Price"), rows);
    }

    /** An item, which the desk remembers. */
    Desk show(int item, Desk desk, Page page) {
        Draft.Line one = line(item, 1, desk.branch());
        Desk left = desk.with(new Desk.Recent(item, one.name()));
        List<List<Object>> recent = left.recent().stream()
                .<List<Object>>map(known -> List.of(known.item(), known.name())).toList();
        page.output("item", item).text("name", one.name()).money("price", one.price())
                .output("recent", recent.size())
                .table("item", List.of("Item", "Seen lately"), recent);
        return left;
    }

    /** What is available of an item, by branch: there, and not reserved. */
    void availability(int item, Page page) {
        List<List<Object>> rows = database.query("""
                select s.branch, b.name, s.on_hand, s.reserved, s.on_hand - s.reserved
                from business_stock s join business_branch b using (branch)
                where s.item = ? order by s.branch""",
                (row, number) -> List.of(row.getInt(1), row.getString(2), row.getInt(3),
                        row.getInt(4), row.getInt(5)), item);
        if (rows.isEmpty()) {
            throw BusinessException.unknown("item", item);
        }
        page.output("item", item)
                .output("available", rows.stream().mapToLong(row -> (Integer) row.get(4)).sum())
                .table("branch", List.of("Branch", "Name", "On hand", "Reserved", "Available"),
                        rows);
    }

    /** A line of an order of some of an item, out of the stock that is nearest to a branch. */
    Draft.Line line(int item, int quantity, int branch) {
        List<Draft.Line> found = database.query("""
                select i.name, i.price, s.branch from business_item i join business_stock s
                using (item) where i.item = ? order by abs(s.branch - ?), s.branch limit 1""",
                (row, number) -> new Draft.Line(item, row.getString(1), row.getInt(3), quantity,
                        row.getInt(2)), item, branch);
        if (found.isEmpty()) {
            throw BusinessException.unknown("item", item);
        }
        return found.get(0);
    }
}
