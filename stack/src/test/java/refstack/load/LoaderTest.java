package refstack.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import refstack.TestDatabase;

/** The loader is repeatable. */
class LoaderTest {

    @Test
    void theSameSeedGivesTheSameDataAndAnotherSeedOtherData() throws Exception {
        String url = TestDatabase.emptyUrl("loader");
        Loader.Result first = load(url, 30, 1);
        Loader.Result again = load(url, 30, 1);
        Loader.Result other = load(url, 30, 2);
        assertThat(again).isEqualTo(first);
        assertThat(other.sha256()).isNotEqualTo(first.sha256());
        assertThat(other.rows()).isEqualTo(first.rows())
                .containsEntry("flight", 30L).containsEntry("connection", 24L);
        assertThat(first.json()).startsWith("{\"seed\":1,\"tables\":{\"carrier\":8,")
                .endsWith("\"sha256\":\"" + first.sha256() + "\"}").doesNotContain("\n");
        assertThat(rowsOf(url, "flight")).isEqualTo(30);
    }

    @Test
    void partsHaveTheirTablesAndLoadingEmptiesThem() throws Exception {
        String url = TestDatabase.emptyUrl("parts");
        load(url, 30, 1);
        try (Connection connection = DriverManager.getConnection(url)) {
            connection.createStatement().execute(
                    "insert into connector_message (id, way, bytes) values ('x', 'rpc', 1)");
        }
        load(url, 30, 1);
        assertThat(rowsOf(url, "connector_message")).isZero();
    }

    @Test
    void aLedgerIsThereIfAskedForAndBalances() throws Exception {
        String url = TestDatabase.emptyUrl("ledger");
        load(url, 30, 1);
        assertThat(numberOf(url, "select count(*) from pg_class where relname like 'ledger%'"))
                .isZero();
        Loader.Result first = load(url, 30, 1, 3001);
        assertThat(load(url, 30, 1, 3001)).isEqualTo(first);
        assertThat(load(url, 30, 2, 3001).sha256()).isNotEqualTo(first.sha256());
        assertThat(first.rows()).containsEntry("ledger_item", 3001L);
        assertThat(rowsOf(url, "ledger_item")).isEqualTo(3001);
        assertThat(numberOf(url, "select count(*) from (select document from ledger_item "
                + "group by document having sum(amount) <> 0 or count(*) not between 2 and 7) d"))
                .isZero();
        assertThat(numberOf(url, "select count(*) from ledger_item i "
                + "join ledger_document d using (document) where i.period <> d.period")).isZero();
        assertThat(numberOf(url, "select count(distinct period) from ledger_item")).isEqualTo(12);
        assertThat(numberOf(url, "select relallvisible - relpages from pg_class "
                + "where relname = 'ledger_item'")).isZero();
    }

    @Test
    void smallLedgersBalanceToo() throws Exception {
        String url = TestDatabase.emptyUrl("small_ledger");
        for (int items = 2; items < 20; items++) {
            load(url, 30, items, items);
            assertThat(rowsOf(url, "ledger_item")).isEqualTo(items);
            assertThat(numberOf(url, "select count(*) from (select document from ledger_item "
                    + "group by document having sum(amount) <> 0 or count(*) < 2) d")).isZero();
        }
    }

    @Test
    void aBusinessIsThereIfAskedForAndItsBooksAgree() throws Exception {
        String url = TestDatabase.emptyUrl("business_sample");
        load(url, 30, 1);
        assertThat(numberOf(url, "select count(*) from pg_class where relname like 'business%'"))
                .isZero();
        Loader.Result first = business(url, 150, 1);
        assertThat(business(url, 150, 1)).isEqualTo(first);
        assertThat(business(url, 150, 2).sha256()).isNotEqualTo(first.sha256());
        assertThat(first.rows()).containsEntry("business_user", 150L)
                .containsEntry("business_customer", 600L).containsEntry("business_item", 500L)
                .containsEntry("business_stock", 2000L).containsEntry("business_branch", 4L)
                .containsEntry("business_account", 80L).containsEntry("business_order", 300L)
                .containsEntry("business_order_line", 900L);
        for (String books : BOOKS_THAT_DISAGREE) {
            assertThat(numberOf(url, books)).as(books).isZero();
        }
        assertThat(numberOf(url, "select sum(reserved) from business_stock")).isPositive();
    }

    @Test
    void largerBusinessesHaveMoreOfEverything() throws Exception {
        String url = TestDatabase.emptyUrl("larger_business");
        assertThat(business(url, 1200, 1).rows()).containsEntry("business_branch", 6L)
                .containsEntry("business_customer", 4800L).containsEntry("business_item", 2400L)
                .containsEntry("business_order", 2400L);
        for (String books : BOOKS_THAT_DISAGREE) {
            assertThat(numberOf(url, books)).as(books).isZero();
        }
    }

    /** Each counts what must not be. */
    private static final List<String> BOOKS_THAT_DISAGREE = List.of(
            "select count(*) from (select document from business_posting group by document "
                    + "having sum(cents) <> 0) d",
            "select count(*) from business_document where document not in "
                    + "(select document from business_posting)",
            "select count(*) from business_posting p where account not in "
                    + "(select account from business_account)",
            "select count(*) from (select item, l.branch, sum(quantity) as wanted "
                    + "from business_order_line l join business_order o using (document) "
                    + "where o.state = 'open' group by item, l.branch) l "
                    + "full join business_stock s using (item, branch) "
                    + "where coalesce(wanted, 0) <> coalesce(reserved, 0)",
            "select count(*) from business_order o where total <> (select sum(quantity * price) "
                    + "from business_order_line l where l.document = o.document)",
            "select count(*) from (select item from business_stock group by item "
                    + "having count(distinct branch) <> 4) s",
            "select count(*) from business_order where (state = 'open') <> (shipment is null)");

    @Test
    void wrongCallsEndWith2AndRefusalsOfTheDatabaseWith1() {
        Map<String, String> nowhere = Map.of("DB_URL", "jdbc:postgresql://127.0.0.1:1/x");
        assertThat(run(nowhere, "--flights", "0")).isEqualTo(2);
        assertThat(run(nowhere, "--flights", "many")).isEqualTo(2);
        assertThat(run(nowhere, "--flights")).isEqualTo(2);
        assertThat(run(nowhere, "--planes", "1")).isEqualTo(2);
        assertThat(run(nowhere, "--ledger", "-1")).isEqualTo(2);
        assertThat(run(nowhere, "--ledger", "1")).isEqualTo(2);
        assertThat(run(nowhere, "--business", "-1")).isEqualTo(2);
        assertThat(run(Map.of())).isEqualTo(2);
        assertThat(run(nowhere)).isEqualTo(1);
    }

    private static int run(Map<String, String> environment, String... arguments) {
        return LoadMain.run(arguments, environment);
    }

    private static Loader.Result load(String url, int flights, long seed) throws Exception {
        return load(url, flights, seed, 0);
    }

    private static Loader.Result load(String url, int flights, long seed, int ledger)
            throws Exception {
        try (Connection connection = DriverManager.getConnection(url)) {
            return new Loader(connection).load(flights, seed,
                    ledger == 0 ? List.of() : List.of(Loader.Sample.ledger(ledger, seed)));
        }
    }

    private static Loader.Result business(String url, int users, long seed) throws Exception {
        try (Connection connection = DriverManager.getConnection(url)) {
            return new Loader(connection).load(30, seed,
                    List.of(Loader.Sample.business(users, seed)));
        }
    }

    private static int rowsOf(String url, String table) throws Exception {
        return numberOf(url, "select count(*) from " + table);
    }

    private static int numberOf(String url, String query) throws Exception {
        try (Connection connection = DriverManager.getConnection(url);
                ResultSet row = connection.createStatement().executeQuery(query)) {
            row.next();
            return row.getInt(1);
        }
    }
}
