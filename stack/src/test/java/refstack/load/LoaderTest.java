package refstack.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
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
    void wrongCallsEndWith2AndRefusalsOfTheDatabaseWith1() {
        Map<String, String> nowhere = Map.of("DB_URL", "jdbc:postgresql://127.0.0.1:1/x");
        assertThat(run(nowhere, "--flights", "0")).isEqualTo(2);
        assertThat(run(nowhere, "--flights", "many")).isEqualTo(2);
        assertThat(run(nowhere, "--flights")).isEqualTo(2);
        assertThat(run(nowhere, "--planes", "1")).isEqualTo(2);
        assertThat(run(Map.of())).isEqualTo(2);
        assertThat(run(nowhere)).isEqualTo(1);
    }

    private static int run(Map<String, String> environment, String... arguments) {
        return LoadMain.run(arguments, environment);
    }

    private static Loader.Result load(String url, int flights, long seed) throws Exception {
        try (Connection connection = DriverManager.getConnection(url)) {
            return new Loader(connection).load(flights, seed);
        }
    }

    private static int rowsOf(String url, String table) throws Exception {
        try (Connection connection = DriverManager.getConnection(url);
                ResultSet row = connection.createStatement()
                        .executeQuery("select count(*) from " + table)) {
            row.next();
            return row.getInt(1);
        }
    }
}
