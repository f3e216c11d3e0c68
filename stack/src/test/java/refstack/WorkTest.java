package refstack;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.DriverManager;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import refstack.TestNode.Answer;
import refstack.load.LoadForTests;

/** Work over a ledger, and what it says of the time it took. */
class WorkTest {

    private static final int ITEMS = 30_000;
    private static final Pattern TIMING =
            Pattern.compile("total;dur=([0-9.]+), db;dur=([0-9.]+)");

    private static String url;
    @AutoClose
    private static TestNode node;

    @BeforeAll
    static void start() throws Exception {
        url = TestDatabase.emptyUrl("work");
        LoadForTests.load(url, ITEMS);
        node = TestNode.withoutDatabase("--refstack.parts=work", "--refstack.node.name=w-1",
                "--spring.datasource.url=" + url, "--spring.datasource.username=postgres",
                "--spring.datasource.hikari.maximum-pool-size=2", "--refstack.work.fetch-rows=100");
    }

    private static String good(Answer answer) {
        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        Matcher timing = TIMING.matcher(answer.header("Server-Timing"));
        assertThat(timing.matches()).isTrue();
        assertThat(Double.parseDouble(timing.group(1)))
                .isGreaterThan(Double.parseDouble(timing.group(2)));
        return answer.body();
    }

    private static String get(String path) {
        return good(node.get(path));
    }

    private static String post(String path) {
        return good(node.post(path));
    }

    private static String asked(String query) {
        return TestDatabase.ask(url, query);
    }

    private static String found(String name, String body) {
        Matcher value = Pattern.compile("\"" + name + "\":(\"[^\"]*\"|[^,}]*)").matcher(body);
        assertThat(value.find()).as(name + " in " + body).isTrue();
        return value.group(1);
    }

    @Test
    void theWholeLedgerIsCounted() throws Exception {
        assertThat(get("/ledger/count")).isEqualTo("{\"count\":" + ITEMS + "}");
        assertThat(asked("explain select count(cost_center) from ledger_item"))
                .doesNotContain("Index");
    }

    @Test
    void aSelectionHasItsCountTotalAndFirstItems() throws Exception {
        String where = " from ledger_item where account = 100100 and period between 2 and 11";
        String body = get("/ledger/selection?account=100100&from=2&to=11");
        assertThat(found("count", body)).isEqualTo(asked("select count(*)" + where));
        assertThat(found("total", body)).isEqualTo(asked("select sum(amount)" + where));
        assertThat(body.split("\"document\"", -1)).hasSize(101);
        assertThat(found("count", get("/ledger/selection?account=7"))).isEqualTo("0");
    }

    @Test
    void theReportsStagesAgree() throws Exception {
        String groups = asked("select max(group_id) from ledger_account");
        String all = get("/ledger/report/summary");
        assertThat(found("items", all)).isEqualTo("" + ITEMS);
        assertThat(found("total", all)).isEqualTo("0.00");
        long items = 0;
        for (int group = 1; group <= Integer.parseInt(groups); group++) {
            String list = get("/ledger/report/all?group=" + group);
            items += Long.parseLong(found("count", list));
            String summary = get("/ledger/report/summary?group=" + group);
            assertThat(found("items", summary)).isEqualTo(found("count", list));
            assertThat(found("total", summary)).isEqualTo(found("total", list));
        }
        assertThat(items).isEqualTo(ITEMS);
    }

    @Test
    void itemsOfAPeriodComeInPages() throws Exception {
        long count = Long.parseLong(found("count", get("/ledger/report/items?group=1&period=3")));
        assertThat("" + count).isEqualTo(asked("select count(*) from ledger_item "
                + "join ledger_account using (account) where group_id = 1 and period = 3"));
        long seen = 0;
        for (int page = 1; seen < count; page++) {
            String body = get("/ledger/report/items?group=1&period=3&rows=40&page=" + page);
            int rows = body.split("\\[1", -1).length - 1;
            assertThat((long) rows).isEqualTo(Math.min(40, count - seen));
            seen += rows;
        }
    }

    @Test
    void theListHasEveryItemOnPages() throws Exception {
        String body = get("/ledger/report/all");
        int accounts = Integer.parseInt(asked("select count(*) from ledger_account"));
        int lines = ITEMS + 2 * accounts + 1;
        assertThat(found("count", body)).isEqualTo("" + ITEMS);
        assertThat(found("pages", body)).isEqualTo("" + (lines + 59) / 60);
        assertThat(found("checksum", body)).isEqualTo(found("checksum", get("/ledger/report/all")));
        String page = found("firstPage", body);
        assertThat(page).startsWith("\"Items of the ledger, page 1\\nAccount 100000 ")
                .contains("Hamburg").doesNotContain("page 2");
        assertThat(page.split("\\\\n", -1)).hasSize(62);
        assertThat(Long.parseLong(found("bytes", body))).isGreaterThan(ITEMS * 90L);
    }

    @ParameterizedTest
    @ValueSource(strings = {"aggregates", "view", "subqueries", "tables", "context"})
    void bothVariantsOfAPairGiveTheSame(String pair) {
        for (int key : new int[] {0, 1, 7, 1000, Integer.MAX_VALUE}) {
            String naive = get("/ledger/pairs/" + pair + "/naive?key=" + key);
            String better = get("/ledger/pairs/" + pair + "/better?key=" + key);
            assertThat(found("result", better)).isEqualTo(found("result", naive))
                    .doesNotContain("\"0 ");
            assertThat(Long.parseLong(found("statements", better)))
                    .isLessThanOrEqualTo(Long.parseLong(found("statements", naive)));
        }
    }

    @Test
    void pairsDoWhatTheySay() {
        get("/ledger/pairs/view/naive");
        String nested = get("/ledger/pairs/view/naive");
        assertThat(Long.parseLong(found("statements", nested))).isGreaterThan(150);
        assertThat(found("statements", get("/ledger/pairs/view/better"))).isEqualTo("1");
        String rows = get("/ledger/pairs/aggregates/naive");
        assertThat(Long.parseLong(found("rows", rows))).isGreaterThan(5000);
        assertThat(found("rows", get("/ledger/pairs/aggregates/better"))).isEqualTo("1");
        assertThat(found("statements", get("/ledger/pairs/context/naive"))).isEqualTo("201");
        assertThat(Long.parseLong(found("statements", get("/ledger/pairs/context/better"))))
                .isBetween(2L, 26L);
        assertThat(get("/ledger/pairs/tables/better?key=3"))
                .contains("different from row 19999", "\"statements\":0");
    }

    @Test
    void theClosingJobWritesBalancesThatAreRight() throws Exception {
        String body = post("/ledger/jobs/closing");
        int accounts = Integer.parseInt(asked("select count(*) from ledger_account"));
        assertThat(found("items", body)).isEqualTo("" + ITEMS);
        assertThat(found("total", body)).isEqualTo("0.00");
        assertThat(found("balances", body)).isEqualTo("" + accounts * 12);
        assertThat(found("transactions", body)).isEqualTo("" + (accounts + 24) / 25);
        assertThat(post("/ledger/jobs/closing")).isEqualTo(body);
        assertThat(asked("select count(*) from ledger_balance b join (select account, period, "
                + "count(*) as items, coalesce(sum(amount) filter (where amount > 0), 0) as debit, "
                + "coalesce(-sum(amount) filter (where amount < 0), 0) as credit "
                + "from ledger_item group by account, period) i using (account, period) "
                + "where (b.items, b.debit, b.credit) <> (i.items, i.debit, i.credit)"))
                .isEqualTo("0");
        assertThat(asked("select count(*) from ledger_balance b where carried <> "
                + "(select sum(debit - credit) from ledger_balance e "
                + "where e.account = b.account and e.period <= b.period)")).isEqualTo("0");
        assertThat(found("accounts", post("/ledger/jobs/closing?accounts=30"))).isEqualTo("30");
    }

    @Test
    void generatedProgramsComputeWhatTheyShould() {
        String body = post("/ledger/jobs/generation?programs=3&seed=5");
        assertThat(found("programs", body)).isEqualTo("3");
        assertThat(Long.parseLong(found("sourceBytes", body))).isGreaterThan(20_000);
        assertThat(post("/ledger/jobs/generation?programs=3&seed=5")).isEqualTo(body);
        assertThat(found("checksum", post("/ledger/jobs/generation?programs=3&seed=6")))
                .isNotEqualTo(found("checksum", body));
    }

    @Test
    void statisticsAreMadeAnew() throws Exception {
        String made = "select sum(analyze_count) from pg_stat_user_tables "
                + "where relname in ('ledger_account', 'ledger_document', 'ledger_item')";
        long before = Long.parseLong(asked(made));
        String body = post("/ledger/jobs/statistics");
        assertThat(found("ledger_item", body)).isEqualTo("" + ITEMS);
        long after = before;
        // The server counts what a session did a moment after it did it.
        for (int i = 0; i < 50 && after < before + 3; i++) {
            Thread.sleep(100);
            after = Long.parseLong(asked(made));
        }
        assertThat(after).isGreaterThanOrEqualTo(before + 3);
    }

    @Test
    void countersTellKindsApartAndTheDatabase() {
        double dialogues = counted("requests_total", "kind=\"dialogue\",work=\"count\"");
        double rows = counted("rows_total", "kind=\"dialogue\",work=\"count\"");
        double jobs = counted("requests_total", "kind=\"background\",work=\"generation\"");
        get("/ledger/count");
        get("/ledger/count");
        post("/ledger/jobs/generation?programs=1");
        assertThat(counted("requests_total", "kind=\"dialogue\",work=\"count\""))
                .isEqualTo(dialogues + 2);
        assertThat(counted("rows_total", "kind=\"dialogue\",work=\"count\"")).isEqualTo(rows + 2);
        assertThat(counted("requests_total", "kind=\"background\",work=\"generation\""))
                .isEqualTo(jobs + 1);
        double all = counted("seconds_total", "kind=\"dialogue\",work=\"count\"");
        double database = counted("database_seconds_total", "kind=\"dialogue\",work=\"count\"");
        assertThat(database).isPositive().isLessThan(all);
        assertThat(counted("database_seconds_total",
                "kind=\"background\",work=\"generation\"")).isZero();
        assertThat(counted("first_seconds", "work=\"count\"")).isPositive()
                .isGreaterThan(counted("first_database_seconds", "work=\"count\""));
    }

    private static double counted(String name, String labels) {
        return node.metricOrZero("refstack_work_" + name + "{" + labels + "}");
    }

    @ParameterizedTest
    @CsvSource({"/ledger/selection?account=x,400", "/ledger/selection,400",
        "/ledger/selection?account=1&from=0,400", "/ledger/report/summary?group=-1,400",
        "/ledger/report/all?group=99999,400", "/ledger/report/items?period=13,400",
        "/ledger/report/items?period=1&rows=1001,400", "/ledger/report/items?period=1&page=0,400",
        "/ledger/pairs/aggregates/better?key=-1,400", "/ledger/pairs/aggregates/best,404",
        "/ledger/pairs/none/better,404", "/ledger/nothing,404", "/ledger/jobs/closing,405"})
    void wrongRequestsAreRefused(String path, int status) {
        Answer answer = node.get(path);
        assertThat(answer.status()).as(path).isEqualTo(status);
        assertThat(answer.body()).contains("\"status\":" + status)
                .doesNotContain("Exception", "at refstack");
    }

    @ParameterizedTest
    @ValueSource(strings = {"generation?programs=0", "generation", "generation?programs=100001",
        "closing?accounts=-1", "generation?programs=1&seed=x"})
    void wrongJobsAreRefused(String job) {
        assertThat(node.post("/ledger/jobs/" + job).status()).isEqualTo(400);
    }

    @Test
    void withoutALedgerThereIs409() {
        try (TestNode bare = TestNode.withDatabase("--refstack.parts=work")) {
            String none = "refstack_work_requests_total{kind=\"%s\",work=\"%s\"} 0.0";
            assertThat(bare.metrics()).contains(
                    none.formatted("background", "closing"),
                    none.formatted("dialogue", "view-naive"));
            for (String path : new String[] {"/ledger/count", "/ledger/report/summary",
                "/ledger/report/all", "/ledger/pairs/view/better"}) {
                Answer answer = bare.get(path);
                assertThat(answer.status()).as(path).isEqualTo(409);
                assertThat(answer.body()).contains("has no ledger");
            }
            assertThat(bare.post("/ledger/jobs/closing").status()).isEqualTo(409);
            assertThat(bare.get("/ledger/pairs/tables/better").status()).isEqualTo(200);
            assertThat(bare.metrics())
                    .contains("refstack_work_refused_total{reason=\"ledger\"} 5.0");
        }
    }

    @Test
    void aTransactionThatFailsGivesItsConnectionBack() throws Exception {
        try (Connection connection = DriverManager.getConnection(url, "postgres", "")) {
            connection.createStatement().execute("alter table ledger_balance rename to hidden");
            try {
                for (int i = 0; i < 4; i++) {
                    assertThat(node.post("/ledger/jobs/closing").status()).isEqualTo(409);
                }
            } finally {
                connection.createStatement()
                        .execute("alter table hidden rename to ledger_balance");
            }
        }
        assertThat(found("total", post("/ledger/jobs/closing"))).isEqualTo("0.00");
    }
}
