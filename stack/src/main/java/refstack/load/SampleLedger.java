package refstack.load;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A ledger of one year, the same for the same number of items and the same seed.
 *
 * <p>A document has two to six items that add up to nothing, as bookkeeping wants it; documents
 * are spread evenly over the year, and a month is a period. One account has some 520 items; 25
 * accounts that follow one another are a group. Everything else is drawn.
 */
final class SampleLedger {

    static final int MAX_ITEMS = 10_000_000;

    private static final int ITEMS_OF_ACCOUNT = 520;
    private static final int ACCOUNTS_OF_GROUP = 25;
    private static final int FIRST_ACCOUNT = 100_000;
    private static final int STEP = 10;
    private static final int MOST_LINES = 6;
    private static final int LARGEST_CENTS = 5_000_000;
    private static final int COST_CENTERS = 400;
    private static final LocalDate FIRST_DAY = LocalDate.of(2010, 1, 1);
    private static final int DAYS = 365;
    private static final List<String> KINDS = List.of("SA", "KR", "DR", "KZ", "DZ", "AB");
    private static final List<String> USES = List.of("Raw material", "Freight", "Energy",
            "Wages", "Rent", "Services", "Repairs", "Travel", "Revenue", "Duties");
    private static final List<String> PLACES = List.of("Hamburg", "Belgrade", "Osaka", "Rome",
            "Singapore", "New York", "San Francisco", "Frankfurt");

    private final int items;
    private final SplittableRandom random;
    private final int accounts;
    private final List<String> documentRows = new ArrayList<>();
    private final List<String> itemRows;

    private SampleLedger(int items, long seed) {
        this.items = items;
        this.random = new SplittableRandom(seed);
        this.accounts = Math.max(2 * ACCOUNTS_OF_GROUP, items / ITEMS_OF_ACCOUNT);
        this.itemRows = new ArrayList<>(items);
    }

    /** The tables in an order in which each only refers to earlier ones. */
    static List<Table> tables(int items, long seed) {
        return new SampleLedger(items, seed).tables();
    }

    private List<Table> tables() {
        while (itemRows.size() < items) {
            addDocument();
        }
        return List.of(
                Table.of("ledger_account", "account name group_id currency", accountRows()),
                Table.of("ledger_document", "document period posted_on kind author",
                        documentRows),
                Table.of("ledger_item", "document line account period amount cost_center text",
                        itemRows));
    }

    private List<String> accountRows() {
        List<String> rows = new ArrayList<>(accounts);
        for (int i = 0; i < accounts; i++) {
            rows.add(Table.row(account(i), USES.get(i % USES.size()) + ' '
                    + PLACES.get(i / USES.size() % PLACES.size()) + ' ' + i,
                    1 + i / ACCOUNTS_OF_GROUP, "EUR"));
        }
        return rows;
    }

    private void addDocument() {
        int document = documentRows.size() + 1;
        LocalDate day = FIRST_DAY.plusDays((long) itemRows.size() * DAYS / items);
        int lines = lines(items - itemRows.size());
        documentRows.add(Table.row(document, day.getMonthValue(), day,
                KINDS.get(random.nextInt(KINDS.size())), "clerk" + random.nextInt(40)));
        long balance = 0;
        for (int line = 1; line < lines; line++) {
            long cents = random.nextLong(1, LARGEST_CENTS);
            long signed = random.nextBoolean() ? cents : -cents;
            balance += signed;
            addItem(document, line, day, signed);
        }
        addItem(document, lines, day, -balance);
    }

    /** Of a number of items that are left, never all but one: a single item cannot balance. */
    private int lines(int left) {
        int lines = random.nextInt(2, MOST_LINES + 1);
        if (lines >= left) {
            return left;
        }
        return left - lines == 1 ? lines + 1 : lines;
    }

    private void addItem(int document, int line, LocalDate day, long cents) {
        String text = USES.get(random.nextInt(USES.size())) + ", order "
                + random.nextInt(1_000_000) + ", " + PLACES.get(random.nextInt(PLACES.size()));
        itemRows.add(Table.row(document, line, account(random.nextInt(accounts)),
                day.getMonthValue(), BigDecimal.valueOf(cents, 2),
                1000 + random.nextInt(COST_CENTERS), text));
    }

    private static int account(int number) {
        return FIRST_ACCOUNT + STEP * number;
    }
}
