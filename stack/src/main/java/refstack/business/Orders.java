package refstack.business;

import java.util.Comparator;
import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;
import refstack.business.Documents.Written;
import refstack.business.Posting.Use;

/** Orders: placed, looked at, shipped. */
class Orders {

    private static final String ORDER = "order";
    private static final String SHIPMENT = "shipment";

    private final JdbcTemplate database;
    private final Documents documents;

    Orders(JdbcTemplate database, Documents documents) {
        this.database = database;
        this.documents = documents;
    }

    /** What a shipment needs of its order. */
    private record Shipped(int customer, int branch, long total) {
    }

    /**
     * Places the order in progress: with it its lines, the reservation of stock and a posting are
     * one transaction. Without enough stock nothing is done.
     */
    Desk place(String request, Desk desk, Page page) {
        Draft draft = desk.draft();
        Written written;
        if (draft == null || draft.lines().isEmpty()) {
            written = documents.find(request, ORDER);
            if (written == null) {
                throw BusinessException.noDraft();
            }
        } else {
            written = documents.write(request, ORDER, desk,
                    document -> place(document, draft, desk.branch()));
        }
        page.repeated(written.isRepeated());
        show(written.document(), page);
        return desk.withoutDraft();
    }

    private void place(long document, Draft draft, int branch) {
        database.update("""
                insert into business_order (document, customer, branch, state, total)
                values (?, ?, ?, 'open', ?)""",
                document, draft.customer(), branch, draft.total());
        List<Draft.Line> lines = draft.lines();
        database.update("""
                insert into business_order_line (document, line, item, branch, quantity, price)
                select ?, l.line, l.item, l.branch, l.quantity, l.price
                from unnest(?::int[], ?::int[], ?::int[], ?::int[])
                with ordinality as l (item, branch, quantity, price, line)""",
                document,
                lines.stream().map(Draft.Line::item).toArray(Integer[]::new),
                lines.stream().map(Draft.Line::branch).toArray(Integer[]::new),
                lines.stream().map(Draft.Line::quantity).toArray(Integer[]::new),
                lines.stream().map(Draft.Line::price).toArray(Integer[]::new));
        reserve(lines);
        documents.post(document, Posting.between(Use.ORDERS_BOOKED.of(branch),
                Use.ORDERS_ON_HAND.of(branch), draft.total()));
    }

    /** In the order of the items: two orders that want the same ones do not wait in a circle. */
    private void reserve(List<Draft.Line> lines) {
        List<Draft.Line> sorted = lines.stream()
                .sorted(Comparator.comparingInt(Draft.Line::item)).toList();
        int[] changed = database.batchUpdate("""
                update business_stock set reserved = reserved + ?
                where item = ? and branch = ? and on_hand - reserved >= ?""",
                sorted.stream().map(line -> new Object[] {line.quantity(), line.item(),
                    line.branch(), line.quantity()}).toList());
        for (int i = 0; i < changed.length; i++) {
            if (changed[i] == 0) {
                throw BusinessException.notAvailable(sorted.get(i).item());
            }
        }
    }

    /** An order with its lines. */
    void show(long order, Page page) {
        Shown shown = new Shown(order, page);
        database.query("""
                select o.customer, o.state, o.total, c.name, l.item, i.name, l.branch, l.quantity,
                  l.price
                from business_order o join business_customer c using (customer)
                join business_order_line l using (document)
                join business_item i using (item)
                where o.document = ? order by l.line""", shown::read, order);
        shown.finish();
    }

    /** The newest open orders of a branch. */
    void open(int branch, Page page) {
        List<List<Object>> rows = database.query("""
                select o.document, c.name, o.total
                from business_order o join business_customer c using (customer)
                where o.branch = ? and o.state = 'open' order by o.document desc limit 20""",
                (row, number) -> List.of(row.getLong(1), row.getString(2),
                        Money.text(row.getLong(3))), branch);
        page.output("count", rows.size())
                .table(ORDER, List.of("Order", "Customer", "Total"), rows);
    }

    /**
     * Ships an order: goods leave the stock and are no longer reserved, the customer owes their
     * price, which is revenue, and their cost goes from the inventory to the cost of sales.
     */
    void ship(long order, String request, Desk desk, Page page) {
        Written written = documents.write(request, SHIPMENT, desk,
                document -> ship(order, document));
        page.output("document", written.document()).output(ORDER, order)
                .repeated(written.isRepeated());
    }

    private void ship(long order, long document) {
        List<Shipped> found = database.query("""
                update business_order set state = 'shipped', shipment = ?
                where document = ? and state = 'open' returning customer, branch, total""",
                (row, number) -> new Shipped(row.getInt(1), row.getInt(2), row.getLong(3)),
                document, order);
        if (found.isEmpty()) {
            boolean isKnown = !database.queryForList(
                    "select 1 from business_order where document = ?", order).isEmpty();
            throw isKnown ? BusinessException.shipped(order)
                    : BusinessException.unknown(ORDER, order);
        }
        Shipped shipped = found.get(0);
        database.update("""
                with line as materialized (
                  select s.item, s.branch, l.quantity
                  from business_order_line l join business_stock s using (item, branch)
                  where l.document = ? order by s.item for update of s)
                update business_stock s
                set on_hand = on_hand - line.quantity, reserved = reserved - line.quantity
                from line where s.item = line.item and s.branch = line.branch""", order);
        long cost = Posting.cost(shipped.total());
        int branch = shipped.branch();
        documents.post(document, List.of(
                new Posting(Use.RECEIVABLES.of(branch), shipped.total()),
                new Posting(Use.REVENUE.of(branch), -shipped.total()),
                new Posting(Use.COST_OF_SALES.of(branch), cost),
                new Posting(Use.INVENTORY.of(branch), -cost)));
        database.update("update business_customer set balance = balance + ? where customer = ?",
                shipped.total(), shipped.customer());
    }
}
