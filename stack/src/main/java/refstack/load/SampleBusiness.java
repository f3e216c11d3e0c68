package refstack.load;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A trading business with a past, the same for the same number of users and the same seed.
 *
 * <p>Its size follows its users: 4 customers, 2 items and 2 past orders a user, a branch for every
 * 200. Each item is stocked in four branches. Past orders have three lines and are documents in the
 * general ledger, every fourth one is still open: it reserves stock. A branch has 20 accounts, the
 * first eight of which the transactions post to.
 */
final class SampleBusiness {

    static final int MAX_USERS = 200_000;

    private static final int USERS_OF_BRANCH = 200;
    private static final int LEAST_BRANCHES = 4;
    private static final int MOST_BRANCHES = 100;
    private static final int LEAST_ITEMS = 500;
    private static final int LEAST_CUSTOMERS = 400;
    private static final int LEAST_ORDERS = 200;
    private static final int STOCKED = 4;
    private static final int LINES = 3;
    private static final int MOST_OF_LINE = 5;
    private static final int OPEN = 4;
    private static final int COST_PERCENT = 60;
    private static final int BRANCH_ACCOUNTS = 100;
    private static final int MOST_CENTS = 50_000;
    private static final Instant FIRST = Instant.parse("2003-01-01T00:00:00Z");

    private static final List<String> MATERIALS =
            List.of("Brass", "Copper", "Nylon", "Oak", "Rubber", "Steel", "Tin", "Zinc");
    private static final List<String> THINGS =
            List.of("Bolt", "Clamp", "Gear", "Hinge", "Lever", "Nut", "Pipe", "Valve");
    private static final List<String> NAMES = List.of("Adler", "Brandt", "Costa", "Dupont",
            "Eriksen", "Fontana", "Garcia", "Horvat", "Ivanov", "Jensen");
    private static final List<String> FORMS =
            List.of("and Sons", "Company", "Limited", "Partners", "Trading");
    private static final List<String> CITIES = List.of("Hamburg", "Belgrade", "Osaka", "Rome",
            "Singapore", "New York", "San Francisco", "Frankfurt");
    private static final List<String> ACCOUNTS = List.of("Receivables", "Cash", "Inventory",
            "Revenue", "Cost of sales", "Goods received", "Orders on hand", "Orders booked",
            "Wages", "Rent", "Energy", "Freight", "Repairs", "Travel", "Insurance", "Duties",
            "Advertising", "Telephone", "Interest", "Other");

    private final int users;
    private final SplittableRandom random;
    private final int branches;
    private final int items;
    private final int customers;
    private final int[] prices;
    private final int[] reserved;
    private final List<String> documentRows = new ArrayList<>();
    private final List<String> postingRows = new ArrayList<>();
    private final List<String> orderRows = new ArrayList<>();
    private final List<String> lineRows = new ArrayList<>();

    private SampleBusiness(int users, long seed) {
        this.users = users;
        this.random = new SplittableRandom(seed);
        this.branches = Math.min(MOST_BRANCHES, Math.max(LEAST_BRANCHES, users / USERS_OF_BRANCH));
        this.items = Math.max(LEAST_ITEMS, 2 * users);
        this.customers = Math.max(LEAST_CUSTOMERS, 4 * users);
        this.prices = random.ints(items, 100, MOST_CENTS).toArray();
        this.reserved = new int[items * STOCKED];
    }

    /** The tables in an order in which each only refers to earlier ones. */
    static List<Table> tables(int users, long seed) {
        return new SampleBusiness(users, seed).tables();
    }

    private List<Table> tables() {
        int orders = Math.max(LEAST_ORDERS, 2 * users);
        for (int order = 1; order <= orders; order++) {
            addOrder(order);
        }
        return List.of(
                Table.of("business_branch", "branch name", rows(branches, number ->
                        Table.row(number, CITIES.get(number % CITIES.size()) + ' ' + number))),
                Table.of("business_user", "number name branch", rows(users, number ->
                        Table.row(number, "clerk" + number, branchOf(number)))),
                Table.of("business_customer", "customer name street city branch balance",
                        rows(customers, this::customer)),
                Table.of("business_item", "item name price", rows(items, number ->
                        Table.row(number, itemName(number), prices[number - 1]))),
                Table.of("business_stock", "item branch on_hand reserved",
                        rows(items * STOCKED, number -> stock(number - 1))),
                Table.of("business_account", "account branch name closing",
                        rows(branches * ACCOUNTS.size(), number -> account(number - 1))),
                Table.of("business_document", "document request kind branch author stored_at",
                        documentRows),
                Table.of("business_posting", "document line account cents", postingRows),
                Table.of("business_order", "document customer branch state shipment total",
                        orderRows),
                Table.of("business_order_line", "document line item branch quantity price",
                        lineRows));
    }

    /** Makes a row of a number. */
    @FunctionalInterface
    private interface RowMaker {

        String row(int number);
    }

    private static List<String> rows(int count, RowMaker maker) {
        List<String> rows = new ArrayList<>(count);
        for (int number = 1; number <= count; number++) {
            rows.add(maker.row(number));
        }
        return rows;
    }

    private int branchOf(int user) {
        return 1 + (user - 1) % branches;
    }

    private String customer(int number) {
        int kind = number - 1;
        String name = NAMES.get(kind % NAMES.size()) + ' '
                + FORMS.get(kind / NAMES.size() % FORMS.size()) + ' ' + "%06d".formatted(number);
        return Table.row(number, name, "Street " + random.nextInt(1, 1000),
                CITIES.get(random.nextInt(CITIES.size())), 1 + random.nextInt(branches),
                random.nextInt(MOST_CENTS));
    }

    private static String itemName(int number) {
        int kind = number - 1;
        return MATERIALS.get(kind % MATERIALS.size()) + ' '
                + THINGS.get(kind / MATERIALS.size() % THINGS.size()) + ' '
                + "%06d".formatted(number);
    }

    /** Branches that stock an item are spread evenly. */
    private int stockBranch(int item, int place) {
        return 1 + (item + place * (branches / STOCKED)) % branches;
    }

    private String stock(int index) {
        int item = 1 + index / STOCKED;
        return Table.row(item, stockBranch(item, index % STOCKED),
                1_000_000 + random.nextInt(10_000), reserved[index]);
    }

    private String account(int index) {
        int branch = 1 + index / ACCOUNTS.size();
        int number = index % ACCOUNTS.size();
        return Table.row(branch * BRANCH_ACCOUNTS + number + 1, branch, ACCOUNTS.get(number),
                random.nextInt(-10 * MOST_CENTS, 10 * MOST_CENTS));
    }

    private void addOrder(int order) {
        int branch = branchOf(order);
        boolean isOpen = order % OPEN == 0;
        long total = 0;
        int first = random.nextInt(items);
        for (int line = 1; line <= LINES; line++) {
            // Far enough from each other to be different items.
            int item = 1 + (first + line * (items / LINES - 1)) % items;
            int place = random.nextInt(STOCKED);
            int quantity = random.nextInt(1, MOST_OF_LINE + 1);
            int price = prices[item - 1];
            total += (long) quantity * price;
            reserved[(item - 1) * STOCKED + place] += isOpen ? quantity : 0;
            lineRows.add(Table.row(order, line, item, stockBranch(item, place), quantity, price));
        }
        addDocument(order, "order", branch, order);
        addPostings(order, branch, new int[] {7, 8}, new long[] {total, -total});
        orderRows.add(Table.row(order, 1 + random.nextInt(customers), branch,
                isOpen ? "open" : "shipped", isOpen ? "\\N" : shipment(order), total));
        if (!isOpen) {
            long cost = total * COST_PERCENT / 100;
            addDocument(shipment(order), "shipment", branch, order);
            addPostings(shipment(order), branch, new int[] {1, 4, 5, 3},
                    new long[] {total, -total, cost, -cost});
        }
    }

    private static int shipment(int order) {
        return 500_000_000 + order;
    }

    private void addDocument(int document, String kind, int branch, int second) {
        documentRows.add(Table.row(document, "\\N", kind, branch, 1 + random.nextInt(users),
                FIRST.plusSeconds(second)));
    }

    private void addPostings(int document, int branch, int[] accounts, long[] cents) {
        for (int i = 0; i < accounts.length; i++) {
            postingRows.add(Table.row(document, i + 1, branch * BRANCH_ACCOUNTS + accounts[i],
                    cents[i]));
        }
    }
}
