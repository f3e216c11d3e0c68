package refstack;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import refstack.TestNode.Answer;
import refstack.load.LoadForTests;

/** The 17 transactions, their sessions in both stores, and books that agree after all. */
class BusinessTest {

    private static final int USERS = 50;
    private static final Pattern COOKIE = Pattern.compile("DESK=([^;]+)");

    private static String url;
    @AutoClose
    private static TestNode node;

    @BeforeAll
    static void start() throws SQLException {
        url = TestDatabase.emptyUrl("business");
        LoadForTests.loadBusiness(url, USERS);
        node = node("b-1");
    }

    private static TestNode node(String name, String... settings) {
        List<String> all = new ArrayList<>(List.of(settings));
        all.add("--refstack.parts=business");
        all.add("--refstack.node.name=" + name);
        return TestNode.withDatabaseAt(url, all.toArray(String[]::new));
    }

    private static long number(String query) {
        return Long.parseLong(TestDatabase.ask(url, query));
    }

    /** A user with a browser. */
    private static final class User {

        private final int number;
        private TestNode where;
        private String cookie;
        private int step;

        User(TestNode where, int number) {
            this.where = where;
            this.number = number;
            Answer answer = where.post("/business/sign-on?user=" + number);
            assertThat(answer.status()).as(answer.body()).isEqualTo(200);
            Matcher matcher = COOKIE.matcher(answer.header("Set-Cookie"));
            assertThat(matcher.find()).isTrue();
            assertThat(answer.header("Set-Cookie")).contains("HttpOnly", "SameSite=Lax");
            this.cookie = matcher.group();
        }

        Answer get(String path) {
            return where.get("/business/" + path, "Cookie", cookie);
        }

        Answer post(String path) {
            return where.post("/business/" + path, "Cookie", cookie);
        }

        /** A transaction that is done: its page says which, for whom, and the how manieth. */
        String good(String page, Answer answer) {
            String body = answer.body();
            assertThat(answer.status()).as(body).isEqualTo(200);
            assertThat(answer.type()).isEqualToIgnoringCase("text/html;charset=utf-8");
            step++;
            assertThat(output(body, "page")).isEqualTo(page);
            assertThat(output(body, "user")).isEqualTo("" + number);
            assertThat(output(body, "step")).isEqualTo("" + step);
            return body;
        }

        /** One that is refused. */
        void bad(int status, String problem, Answer answer) {
            assertThat(answer.status()).as(answer.body()).isEqualTo(status);
            assertThat(output(answer.body(), "problem")).isEqualTo(problem);
        }

        long order(String request, int... items) {
            good("draft-start", post("draft?customer=7"));
            for (int item : items) {
                good("draft-line", post("draft/lines?quantity=2&item=" + item));
            }
            return Long.parseLong(output(
                    good("place-order", post("orders?request=" + request)), "order"));
        }
    }

    private static String output(String body, String name) {
        Matcher matcher = Pattern.compile("<output id=\"" + name + "\">([^<]*)</output>")
                .matcher(body);
        assertThat(matcher.find()).as(name + " in " + body).isTrue();
        return matcher.group(1);
    }

    private static int rows(String body, String subject) {
        return body.split("<tr data-" + subject + "=\"\\d+\">", -1).length - 1;
    }

    private static long cents(String money) {
        return Long.parseLong(money.replace(".", ""));
    }

    @Test
    void theSizeIsToldWithoutSession() {
        assertThat(node.get("/business/size").body()).isEqualTo("{\"users\":50,\"branches\":4,"
                + "\"items\":500,\"customers\":400,\"accounts\":20}");
    }

    @Test
    void customersAreFoundAndShown() {
        User user = new User(node, 1);
        String found = user.good("customer-search", user.get("customers?find=Costa+Lim"));
        assertThat(output(found, "count")).isEqualTo("8");
        assertThat(rows(found, "customer")).isEqualTo(8);
        assertThat(found).contains("Costa Limited 0000");
        long customer = number("select customer from business_order "
                + "group by customer order by count(*) desc, customer limit 1");
        String shown = user.good("customer", user.get("customers/" + customer));
        assertThat(output(shown, "customer")).isEqualTo("" + customer);
        assertThat(cents(output(shown, "balance"))).isEqualTo(
                number("select balance from business_customer where customer = " + customer));
        assertThat(rows(shown, "order")).isEqualTo((int) number(
                "select least(5, count(*)) from business_order where customer = " + customer));
        user.bad(404, "unknown", user.get("customers/401"));
        user.bad(400, "malformed", user.get("customers?find=%25"));
        assertThat(output(user.get("customers?find=Zz").body(), "count")).isEqualTo("0");
    }

    @Test
    void everyPrefixOfTheBookFindsSomething() {
        User user = new User(node, 2);
        for (String name : List.of("Adler", "Jensen")) {
            for (String form : List.of("and", "Com", "Lim", "Par", "Tra")) {
                assertThat(rows(user.get("customers?find=" + name + "+" + form).body(),
                        "customer")).isPositive();
            }
        }
        for (String name : List.of("Brass", "Zinc")) {
            for (String thing : List.of("Bo", "Cl", "Ge", "Hi", "Le", "Nu", "Pi", "Va")) {
                assertThat(rows(user.get("items?find=" + name + "+" + thing).body(), "item"))
                        .isPositive();
            }
        }
        assertThat(rows(user.get("items?find=Tin").body(), "item")).isEqualTo(20);
    }

    @Test
    void itemsAreShownAndRemembered() {
        User user = new User(node, 3);
        for (int item = 1; item <= 12; item++) {
            String shown = user.good("item", user.get("items/" + item));
            assertThat(output(shown, "item")).isEqualTo("" + item);
            assertThat(output(shown, "recent")).isEqualTo("" + Math.min(item, 10));
            assertThat(cents(output(shown, "price"))).isEqualTo(
                    number("select price from business_item where item = " + item));
        }
        assertThat(output(user.get("items/12").body(), "recent")).isEqualTo("10");
        user.bad(404, "unknown", user.get("items/501"));
        user.bad(400, "malformed", user.get("items/one"));
        user.bad(400, "malformed", user.get("items"));
    }

    @Test
    void availabilityIsWhatIsThereAndNotReserved() {
        User user = new User(node, 4);
        String before = user.good("availability", user.get("items/77/availability"));
        assertThat(rows(before, "branch")).isEqualTo(4);
        assertThat(output(before, "available")).isEqualTo("" + number(
                "select sum(on_hand - reserved) from business_stock where item = 77"));
        user.order("availability-1", 77);
        long available = Long.parseLong(output(before, "available"));
        assertThat(output(user.good("availability", user.get("items/77/availability")),
                "available")).isEqualTo("" + (available - 2));
        user.bad(404, "unknown", user.get("items/0/availability"));
    }

    @Test
    void anOrderIsDraftedPlacedShownAndShipped() {
        User user = new User(node, 5);
        user.bad(409, "no-draft", user.get("draft"));
        user.bad(409, "no-draft", user.post("draft/lines?item=1&quantity=1"));
        user.bad(409, "no-draft", user.post("orders?request=nothing"));
        user.bad(404, "unknown", user.post("draft?customer=401"));
        assertThat(output(user.good("draft-start", user.post("draft?customer=9")), "lines"))
                .isEqualTo("0");
        user.bad(409, "no-draft", user.post("orders?request=nothing"));
        long price = number("select price from business_item where item = 21");
        String one = user.good("draft-line", user.post("draft/lines?item=21&quantity=3"));
        assertThat(cents(output(one, "total"))).isEqualTo(3 * price);
        String two = user.good("draft-line", user.post("draft/lines?item=22&quantity=1"));
        assertThat(output(two, "lines")).isEqualTo("2");
        String again = user.good("draft-line", user.post("draft/lines?item=21&quantity=4"));
        assertThat(output(again, "lines")).isEqualTo("2");
        long total = 4 * price + number("select price from business_item where item = 22");
        String draft = user.good("draft", user.get("draft"));
        assertThat(cents(output(draft, "total"))).isEqualTo(total);
        assertThat(output(draft, "customer")).isEqualTo("9");
        assertThat(output(draft, "workspace")).startsWith("4096-");
        String placed = user.good("place-order", user.post("orders?request=order-5"));
        long order = Long.parseLong(output(placed, "order"));
        assertThat(output(placed, "repeated")).isEqualTo("false");
        assertThat(cents(output(placed, "total"))).isEqualTo(total);
        user.bad(409, "no-draft", user.get("draft"));
        String shown = user.good("order", user.get("orders/" + order));
        assertThat(output(shown, "state")).isEqualTo("open");
        assertThat(output(shown, "lines")).isEqualTo("2");
        assertThat(rows(shown, "item")).isEqualTo(2);
        assertThat(user.good("orders", user.get("orders")))
                .contains("<tr data-order=\"" + order + "\">");
        long balance = number("select balance from business_customer where customer = 9");
        String shipped = user.good("ship", user.post("shipments?request=s-5&order=" + order));
        assertThat(output(shipped, "repeated")).isEqualTo("false");
        assertThat(output(user.good("order", user.get("orders/" + order)), "state"))
                .isEqualTo("shipped");
        assertThat(number("select balance from business_customer where customer = 9"))
                .isEqualTo(balance + total);
        assertThat(output(user.good("ship", user.post("shipments?request=s-5&order=" + order)),
                "repeated")).isEqualTo("true");
        user.bad(409, "shipped", user.post("shipments?request=s-6&order=" + order));
        user.bad(404, "unknown", user.post("shipments?request=s-7&order=1"
                + "23456789012"));
        user.bad(404, "unknown", user.get("orders/12345"));
        theBooksAgree();
    }

    @Test
    void aRepeatedRequestIsAnsweredAsDoneAndNotDoneTwice() {
        User user = new User(node, 6);
        long order = user.order("twice-1", 31, 32);
        long documents = number("select count(*) from business_document");
        String again = user.good("place-order", user.post("orders?request=twice-1"));
        assertThat(output(again, "repeated")).isEqualTo("true");
        assertThat(output(again, "order")).isEqualTo("" + order);
        user.good("draft-start", user.post("draft?customer=7"));
        user.good("draft-line", user.post("draft/lines?item=33&quantity=1"));
        String withDraft = user.good("place-order", user.post("orders?request=twice-1"));
        assertThat(output(withDraft, "order")).isEqualTo("" + order);
        user.bad(409, "other-request",
                user.post("payments?customer=1&cents=5&request=twice-1"));
        assertThat(number("select count(*) from business_document")).isEqualTo(documents);
        assertThat(metric("refstack_business_transactions_total{outcome=\"repeated\","
                + "transaction=\"place-order\"}")).isGreaterThanOrEqualTo(2);
        theBooksAgree();
    }

    @Test
    void goodsMoneyAndJournalEntriesArePosted() {
        User user = new User(node, 7);
        long there = number("select sum(on_hand) from business_stock where item = 40");
        String received = user.good("receive",
                user.post("receipts?item=40&quantity=6&request=goods-7"));
        assertThat(output(received, "quantity")).isEqualTo("6");
        assertThat(output(user.good("receive",
                user.post("receipts?item=40&quantity=6&request=goods-7")), "repeated"))
                .isEqualTo("true");
        assertThat(number("select sum(on_hand) from business_stock where item = 40"))
                .isEqualTo(there + 6);
        long owed = number("select balance from business_customer where customer = 11");
        for (String repeated : List.of("false", "true")) {
            assertThat(output(user.good("pay",
                    user.post("payments?customer=11&cents=250&request=pay-7")), "repeated"))
                    .isEqualTo(repeated);
        }
        assertThat(number("select balance from business_customer where customer = 11"))
                .isEqualTo(owed - 250);
        String entry = user.good("journal",
                user.post("journal?from=109&to=210&cents=1234&request=entry-7"));
        String account = user.good("account", user.get("accounts/210"));
        assertThat(account).contains("<tr data-document=\"" + output(entry, "document") + "\">",
                "<td>12.34</td>");
        assertThat(cents(output(account, "balance"))).isEqualTo(
                number("select closing from business_account where account = 210"));
        assertThat(user.good("account", user.get("accounts/109"))).contains("<td>-12.34</td>");
        user.bad(404, "unknown", user.get("accounts/121"));
        user.bad(404, "unknown", user.post("journal?from=109&to=121&cents=1&request=entry-8"));
        user.bad(404, "unknown", user.post("receipts?item=501&quantity=1&request=goods-8"));
        user.bad(404, "unknown", user.post("payments?customer=401&cents=1&request=pay-8"));
        theBooksAgree();
    }

    @ParameterizedTest
    @CsvSource({"receipts?item=40&quantity=0&request=x", "receipts?item=40&quantity=1001&request=x",
        "payments?customer=1&cents=0&request=x", "payments?customer=1&cents=5&request=a%20b",
        "journal?from=109&to=109&cents=5&request=x", "journal?from=109&to=110&cents=-5&request=x",
        "payments?customer=1&cents=5", "orders?request=", "draft?customer=none"})
    void whatCannotBeIsMalformed(String path) {
        long documents = number("select count(*) from business_document");
        User user = new User(node, 8);
        user.bad(400, "malformed", user.post(path));
        assertThat(number("select count(*) from business_document")).isEqualTo(documents);
    }

    @Test
    void theReportIsOfTheNewestOrdersOfTheBranch() {
        User user = new User(node, 9);
        long order = user.order("report-9", 51, 52, 53);
        String report = user.good("sales-report", user.get("report"));
        assertThat(output(report, "branch")).isEqualTo("1");
        assertThat(rows(report, "item")).isEqualTo(20);
        assertThat(cents(output(report, "total"))).isEqualTo(number("""
                select sum(sales)::bigint from (select sum(quantity * price) as sales
                from business_order_line where document in (select document from business_order
                where branch = 1 order by document desc limit 100)
                group by item order by 1 desc limit 20) best"""));
        assertThat(order).isPositive();
    }

    @Test
    void withoutStockNothingIsDone() throws SQLException {
        User user = new User(node, 10);
        user.good("draft-start", user.post("draft?customer=7"));
        user.good("draft-line", user.post("draft/lines?item=60&quantity=2"));
        user.good("draft-line", user.post("draft/lines?item=61&quantity=2"));
        try (Connection connection = DriverManager.getConnection(url, "postgres", "")) {
            connection.createStatement().execute(
                    "update business_stock set on_hand = reserved + 1 where item = 61");
        }
        long documents = number("select count(*) from business_document");
        long reserved = number("select sum(reserved) from business_stock");
        user.bad(409, "not-available", user.post("orders?request=short-1"));
        assertThat(number("select count(*) from business_document")).isEqualTo(documents);
        assertThat(number("select sum(reserved) from business_stock")).isEqualTo(reserved);
        assertThat(output(user.good("draft", user.get("draft")), "lines")).isEqualTo("2");
        theBooksAgree();
    }

    @Test
    void aDraftHasSoManyLines() {
        User user = new User(node, 11);
        user.good("draft-start", user.post("draft?customer=7"));
        for (int item = 101; item <= 150; item++) {
            user.good("draft-line", user.post("draft/lines?quantity=1&item=" + item));
        }
        user.bad(413, "too-large", user.post("draft/lines?quantity=1&item=151"));
        user.good("draft-line", user.post("draft/lines?quantity=2&item=150"));
        assertThat(output(user.good("place-order", user.post("orders?request=long-1")), "lines"))
                .isEqualTo("50");
    }

    @Test
    void formsWorkAsQueriesDo() {
        User user = new User(node, 12);
        Answer answer = node.post("/business/draft",
                "customer=12".getBytes(StandardCharsets.UTF_8), "Cookie", user.cookie,
                "Content-Type", "application/x-www-form-urlencoded");
        assertThat(output(user.good("draft-start", answer), "customer")).isEqualTo("12");
    }

    @Test
    void concurrentOrdersOfTheSameItemsLeaveBooksThatAgree() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(8);
        try {
            List<Future<?>> all = new ArrayList<>();
            for (int number = 20; number < 28; number++) {
                int who = number;
                all.add(threads.submit(() -> {
                    User user = new User(node, who);
                    for (int i = 0; i < 12; i++) {
                        // Each in another order: whoever locked them as they come would deadlock.
                        int[] items = i % 2 == 0 ? new int[] {201, 202, 203, 204}
                                : new int[] {204, 203, 202, 201};
                        long order = user.order("many-" + who + '-' + i, items);
                        user.good("receive", user.post("receipts?item=202&quantity=1&request="
                                + "more-" + who + '-' + i));
                        user.good("ship", user.post("shipments?order=" + order
                                + "&request=away-" + who + '-' + i));
                    }
                }));
            }
            for (Future<?> one : all) {
                one.get();
            }
        } finally {
            threads.shutdownNow();
        }
        assertThat(number("select count(*) from business_document where request like 'many-%'"))
                .isEqualTo(96);
        assertThat(number("select count(*) from business_order where state = 'shipped' "
                + "and document in (select document from business_document "
                + "where request like 'many-%')")).isEqualTo(96);
        theBooksAgree();
    }

    @Test
    void concurrentRequestsOfOneNameAreDoneOnce() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            for (int i = 0; i < 5; i++) {
                String request = "race-" + i;
                List<Future<String>> answers = new ArrayList<>();
                for (int number = 30; number < 34; number++) {
                    User user = new User(node, number);
                    answers.add(threads.submit(() -> output(user.good("pay", user.post(
                            "payments?customer=3&cents=7&request=" + request)), "repeated")));
                }
                List<String> repeated = new ArrayList<>();
                for (Future<String> answer : answers) {
                    repeated.add(answer.get());
                }
                assertThat(repeated).containsOnlyOnce("false").hasSize(4);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void usersWithoutSessionAreToldWhichWay() {
        User user = new User(node, 13);
        user.bad(401, "no-session", node.get("/business/items/1"));
        user.bad(401, "lost-session",
                node.get("/business/items/1", "Cookie", "DESK=0123456789ABCDEF"));
        user.good("item", user.get("items/1"));
        user.good("sign-off", user.post("sign-off"));
        user.bad(401, "lost-session", user.get("items/1"));
        user.bad(404, "unknown", node.post("/business/sign-on?user=51"));
        User again = new User(node, 13);
        String old = again.cookie;
        Answer anew = node.post("/business/sign-on?user=14", "Cookie", old);
        assertThat(anew.header("Set-Cookie")).isNotNull().doesNotContain(old);
        again.bad(401, "lost-session", again.get("items/1"));
    }

    @Test
    void sessionsInMemoryRunOutAndAreCounted() throws InterruptedException {
        try (TestNode hasty = node("b-hasty", "--refstack.business.session-timeout=1s")) {
            User user = new User(hasty, 15);
            user.good("item", user.get("items/1"));
            assertThat(hasty.metric("refstack_business_sessions{state=\"memory\"}"))
                    .isEqualTo(1);
            User other = new User(hasty, 16);
            other.good("sign-off", other.post("sign-off"));
            int status = 200;
            for (int i = 0; i < 20 && status == 200; i++) {
                Thread.sleep(1200);
                status = user.get("items/1").status();
            }
            user.bad(401, "lost-session", user.get("items/1"));
            assertThat(events(hasty, "created")).isEqualTo(2);
            assertThat(events(hasty, "ended")).isEqualTo(1);
            assertThat(events(hasty, "expired")).isEqualTo(1);
            assertThat(events(hasty, "missed")).isEqualTo(2);
            assertThat(hasty.metric("refstack_business_sessions{state=\"memory\"}")).isZero();
        }
    }

    @Test
    void sessionsInMemoryAreLostWithTheirNode() {
        TestNode first = node("b-first");
        User user = new User(first, 17);
        first.close();
        user.where = node;
        user.bad(401, "lost-session", user.get("items/1"));
    }

    @ParameterizedTest
    @CsvSource({"0", "1", "100"})
    void sessionsInTheDatabaseSurviveTheirNode(int inMemory) {
        String[] shared = {"--refstack.business.sessions=database",
            "--refstack.business.sessions-in-memory=" + inMemory};
        TestNode first = node("b-first", shared);
        try (TestNode second = node("b-second", shared)) {
            User user = new User(first, 18);
            User other = new User(first, 19);
            user.good("draft-start", user.post("draft?customer=18"));
            other.good("item", other.get("items/1"));
            user.good("draft-line", user.post("draft/lines?item=70&quantity=1"));
            String before = user.good("draft", user.get("draft"));
            assertThat(output(before, "node")).isEqualTo("b-first");
            double read = events(first, "restored");
            // With room for one, which of the two stays is the cache's choice.
            assertThat(read).isBetween(inMemory == 100 ? 0.0 : inMemory == 1 ? 1.0 : 4.0,
                    inMemory == 100 ? 0.0 : 4.0);
            first.close();
            user.where = second;
            other.where = second;
            String after = user.good("draft", user.get("draft"));
            assertThat(output(after, "node")).isEqualTo("b-second");
            assertThat(output(after, "workspace")).isEqualTo(output(before, "workspace"));
            assertThat(output(after, "total")).isEqualTo(output(before, "total"));
            user.good("place-order", user.post("orders?request=moved-" + inMemory));
            assertThat(output(other.good("item", other.get("items/2")), "recent"))
                    .isEqualTo("2");
            assertThat(events(second, "restored")).isBetween(inMemory == 0 ? 3.0 : 2.0,
                    inMemory == 100 ? 2.0 : 3.0);
            assertThat(second.metric("refstack_business_sessions{state=\"memory\"}"))
                    .isEqualTo(Math.min(inMemory, 2));
            user.good("sign-off", user.post("sign-off"));
            user.bad(401, "lost-session", user.get("items/1"));
            assertThat(number("select count(*) from business_session")).isEqualTo(1);
            other.good("sign-off", other.post("sign-off"));
            assertThat(number("select count(*) from business_session_attributes")).isZero();
        } finally {
            first.close();
        }
    }

    @Test
    void aWorkspaceIsAsLargeAsItIsSet() {
        try (TestNode large = node("b-large", "--refstack.business.session-size=100KB",
                "--refstack.business.workers=1")) {
            User user = new User(large, 21);
            user.good("draft-start", user.post("draft?customer=18"));
            assertThat(output(user.good("draft", user.get("draft")), "workspace"))
                    .startsWith("102400-");
            assertThat(large.metric("refstack_business_workers{state=\"limit\"}")).isEqualTo(1);
            assertThat(large.metric("refstack_business_workers{state=\"busy\"}")).isZero();
        }
    }

    @Test
    void everyTransactionIsCounted() {
        double before = metric("refstack_business_transactions_total{outcome=\"done\","
                + "transaction=\"account\"}");
        User user = new User(node, 22);
        user.good("account", user.get("accounts/301"));
        assertThat(metric("refstack_business_transactions_total{outcome=\"done\","
                + "transaction=\"account\"}")).isEqualTo(before + 1);
        assertThat(metric("refstack_business_seconds_total{transaction=\"account\"}"))
                .isPositive();
        String text = node.metrics();
        assertThat(text.split("refstack_business_seconds_total\\{", -1)).hasSize(20);
    }

    private static void theBooksAgree() {
        assertThat(number("select count(*) from (select document from business_posting "
                + "group by document having sum(cents) <> 0) d")).isZero();
        assertThat(number("select count(*) from business_document where document not in "
                + "(select document from business_posting)")).isZero();
        assertThat(number("""
                select count(*) from (select l.item, l.branch, sum(quantity) as wanted
                from business_order_line l join business_order o using (document)
                where o.state = 'open' group by l.item, l.branch) l
                full join business_stock s using (item, branch)
                where coalesce(wanted, 0) <> coalesce(reserved, 0)""")).isZero();
    }

    private static double events(TestNode where, String event) {
        return where.metric("refstack_business_sessions_events_total{event=\"" + event + "\"}");
    }

    private static double metric(String series) {
        return node.metric(series);
    }
}
