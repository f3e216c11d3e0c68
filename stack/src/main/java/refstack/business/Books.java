package refstack.business;

import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;
import refstack.answers.Refusal;
import refstack.business.Documents.Written;
import refstack.business.Posting.Use;

/** The general ledger and what is posted to it besides orders and shipments; the report. */
class Books {

    private final JdbcTemplate database;
    private final Documents documents;

    Books(JdbcTemplate database, Documents documents) {
        this.database = database;
        this.documents = documents;
    }

    /** An account as of the last closing, and the newest postings to it. */
    void account(int account, Page page) {
        String[] head = database.query(
                "select name, closing from business_account where account = ?",
                row -> row.next() ? new String[] {row.getString(1), Money.text(row.getLong(2))}
                        : null, account);
        if (head == null) {
            throw BusinessException.unknown("account", account);
        }
        List<List<Object>> rows = database.query("""
                select p.document, d.kind, d.stored_at::timestamp(0)::text, p.cents
                from (select document, cents from business_posting where account = ?
                  order by document desc limit 20) p
                join business_document d using (document) order by p.document desc""",
                (row, number) -> List.of(row.getLong(1), row.getString(2), row.getString(3),
                        Money.text(row.getLong(4))), account);
        page.output("account", account).text("name", head[0]).output("balance", head[1])
                .output("count", rows.size())
                .table("document", List.of("Document", "Kind", "Posted", "Amount"), rows);
    }

    /** Posts an amount from one account to another one. */
    void journal(int from, int to, long cents, String request, Desk desk, Page page) {
        if (from == to) {
            throw Refusal.malformed("from and to must be two accounts.");
        }
        Written written = documents.write(request, "journal", desk, document -> {
            List<Integer> known = database.queryForList(
                    "select account from business_account where account in (?, ?)", Integer.class,
                    from, to);
            if (known.size() < 2) {
                throw BusinessException.unknown("account", known.contains(from) ? to : from);
            }
            documents.post(document, Posting.between(from, to, cents));
        });
        page.output("document", written.document()).repeated(written.isRepeated());
    }

    /** A customer pays. */
    void pay(int customer, long cents, String request, Desk desk, Page page) {
        Written written = documents.write(request, "payment", desk, document -> {
            int changed = database.update(
                    "update business_customer set balance = balance - ? where customer = ?",
                    cents, customer);
            if (changed == 0) {
                throw BusinessException.unknown("customer", customer);
            }
            documents.post(document, Posting.between(Use.RECEIVABLES.of(desk.branch()),
                    Use.CASH.of(desk.branch()), cents));
        });
        page.output("document", written.document()).output("customer", customer)
                .repeated(written.isRepeated());
    }

    /** Goods come in, to the stock of the item that is nearest to the user's branch. */
    void receive(int item, int quantity, String request, Desk desk, Page page) {
        Written written = documents.write(request, "receipt", desk, document -> {
            List<Integer> price = database.queryForList("""
                    update business_stock s set on_hand = on_hand + ? from business_item i
                    where i.item = s.item and s.item = ? and s.branch = (
                      select branch from business_stock where item = ?
                      order by abs(branch - ?), branch limit 1)
                    returning i.price""", Integer.class, quantity, item, item, desk.branch());
            if (price.isEmpty()) {
                throw BusinessException.unknown("item", item);
            }
            documents.post(document, Posting.between(Use.GOODS_RECEIVED.of(desk.branch()),
                    Use.INVENTORY.of(desk.branch()),
                    Posting.cost((long) quantity * price.get(0))));
        });
        page.output("document", written.document()).output("item", item)
                .output("quantity", quantity).repeated(written.isRepeated());
    }

    /** What sells best in the newest orders of a branch: 20 items of 100 orders. */
    void salesReport(int branch, Page page) {
        List<List<Object>> rows = database.query("""
                select l.item, i.name, sum(l.quantity), sum(l.quantity::bigint * l.price) as sales
                from (select document from business_order where branch = ?
                  order by document desc limit 100) o
                join business_order_line l using (document) join business_item i using (item)
                group by l.item, i.name order by sales desc, l.item limit 20""",
                (row, number) -> List.of(row.getInt(1), row.getString(2), row.getLong(3),
                        row.getLong(4)), branch);
        long total = rows.stream().mapToLong(row -> (Long) row.get(3)).sum();
        page.output("branch", branch).output("count", rows.size()).money("total", total)
                .table("item", List.of("Item", "Name", "Sold", "Sales"), rows.stream()
                        .<List<Object>>map(row -> List.of(row.get(0), row.get(1), row.get(2),
                                Money.text((Long) row.get(3)))).toList());
    }
}
