package refstack.business;

import java.util.List;
import java.util.function.LongConsumer;
import java.util.regex.Pattern;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionOperations;
import refstack.answers.Refusal;

/**
 * Writes of the business: each is a document with the client's name of the request, and with its
 * postings and all that it changes one transaction of the database.
 */
class Documents {

    private static final Pattern REQUEST = Pattern.compile("[A-Za-z0-9._-]{1,64}");

    private final JdbcTemplate database;
    private final TransactionOperations transactions;

    Documents(JdbcTemplate database, TransactionOperations transactions) {
        this.database = database;
        this.transactions = transactions;
    }

    /**
     * What became of a request.
     *
     * @param document   the number of its document
     * @param isRepeated whether it had been done before
     */
    record Written(long document, boolean isRepeated) {
    }

    /**
     * Writes a document and what goes with it, or finds the one that the request wrote before.
     *
     * @param rest given the document's number, does the rest in the same transaction
     */
    Written write(String request, String kind, Desk desk, LongConsumer rest) {
        check(request);
        return transactions.execute(status -> {
            List<Long> opened = database.queryForList("""
                    insert into business_document (request, kind, branch, author)
                    values (?, ?, ?, ?) on conflict (request) do nothing returning document""",
                    Long.class, request, kind, desk.branch(), desk.user());
            if (opened.isEmpty()) {
                return known(request, kind);
            }
            rest.accept(opened.get(0));
            return new Written(opened.get(0), false);
        });
    }

    /** What an earlier request wrote; refused if it was of another kind, null if there is none. */
    Written find(String request, String kind) {
        check(request);
        return known(request, kind);
    }

    private Written known(String request, String kind) {
        return database.query("select document, kind from business_document where request = ?",
                row -> {
                    if (!row.next()) {
                        return null;
                    }
                    if (!row.getString(2).equals(kind)) {
                        throw BusinessException.otherRequest(request);
                    }
                    return new Written(row.getLong(1), true);
                }, request);
    }

    /** Enters postings of a document into the ledger. */
    void post(long document, List<Posting> postings) {
        Integer[] accounts = postings.stream().map(Posting::account).toArray(Integer[]::new);
        Long[] cents = postings.stream().map(Posting::cents).toArray(Long[]::new);
        database.update("""
                insert into business_posting (document, line, account, cents)
                select ?, p.line, p.account, p.cents
                from unnest(?::int[], ?::bigint[]) with ordinality as p (account, cents, line)""",
                document, accounts, cents);
    }

    private static void check(String request) {
        if (!REQUEST.matcher(request).matches()) {
            throw Refusal.malformed("request must be 1 to 64 letters, digits, points, "
                    + "hyphens and underscores.");
        }
    }
}
