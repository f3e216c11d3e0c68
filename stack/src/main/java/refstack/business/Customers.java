package refstack.business;

import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;

/** Who buys. */
class Customers {

    private final JdbcTemplate database;

    Customers(JdbcTemplate database) {
        this.database = database;
    }

    /** Customers whose names begin so, 20 at most. */
    void search(Prefix prefix, Page page) {
        List<List<Object>> rows = database.query("""
                select customer, name, city from business_customer
                where name collate "C" >= ? and name collate "C" < ?
                order by name collate "C" limit 20""",
                (row, number) -> List.of(row.getInt(1), row.getString(2), row.getString(3)),
                prefix.first(), prefix.after());
        page.output("count", rows.size())
                .table("customer", List.of("Customer", "Name", "City"), rows);
    }

    /** A customer and the newest orders. */
    void show(int customer, Page page) {
        page.output("customer", customer);
        String[] address = database.query(
                "select name, street, city, balance from business_customer where customer = ?",
                row -> row.next() ? new String[] {row.getString(1), row.getString(2),
                    row.getString(3), Money.text(row.getLong(4))} : null, customer);
        if (address == null) {
            throw BusinessException.unknown("customer", customer);
        }
        List<List<Object>> orders = database.query("""
                select document, state, total from business_order where customer = ?
                order by document desc limit 5""",
                (row, number) -> List.of(row.getLong(1), row.getString(2),
                        Money.text(row.getLong(3))), customer);
        page.text("name", address[0]).text("street", address[1]).text("city", address[2])
                .output("balance", address[3])
                .table("order", List.of("Order", "State", "Total"), orders);
    }

    /** The name of a customer; refused if there is none. */
    String name(int customer) {
        List<String> found = database.queryForList(
                "select name from business_customer where customer = ?", String.class, customer);
        if (found.isEmpty()) {
            throw BusinessException.unknown("customer", customer);
        }
        return found.get(0);
    }
}
