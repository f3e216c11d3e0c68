package refstack;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import refstack.TestNode.Answer;

/** An app node whose back end is another node; the first flight of that one times out. */
class RemoteTest {

    private static final String OTHER_KEY =
            "FlightCollection(carrid='LH',connid='0400',fldate=datetime'2011-06-01T00:00:00')";

    private static TestNode backend;
    private static TestNode app;

    @BeforeAll
    static void start() {
        backend = TestNode.withDatabase("--refstack.role=backend", "--refstack.fault.flights=1",
                "--refstack.fault.delay=200ms");
        app = TestNode.withoutDatabase("--refstack.backend.url=" + backend.root());
    }

    @AfterAll
    static void stop() {
        app.close();
        backend.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "/rest/flights", "/rest/flights/LH/0400/2011-06-01", "/rest/flights/LH/0400/2011-06-02",
        Paths.STANDARD + Paths.ODATA_LIST, Paths.STANDARD + OTHER_KEY,
        Paths.COMPATIBILITY + OTHER_KEY + "?$format=json"})
    void givesTheSameBodiesAsALocalBackend(String path) {
        TestNode local = TestNode.app();
        Answer remote = app.get(path);
        assertThat(remote.status()).isEqualTo(local.get(path).status());
        assertThat(remote.body())
                .isEqualTo(local.get(path).body().replace(local.root(), app.root()));
    }

    @Test
    void timeoutsOfTheBackendAreTimeoutsOfTheApp() {
        Answer answer = app.get(Paths.REST_DETAIL);
        assertThat(answer.status()).isEqualTo(504);
        assertThat(answer.body()).contains("timed out");
    }

    @Test
    void nodesLoadOnlyWhatTheirRoleNeeds() {
        assertThat(backend.get(Paths.REST_LIST).status()).isEqualTo(404);
        assertThat(backend.get(Paths.STANDARD).status()).isEqualTo(404);
        assertThat(app.get("/backend/flights").status()).isEqualTo(404);
        assertThat(app.metrics()).doesNotContain("hikaricp_");
    }

    @Test
    void internalApiSaysWhatIsWrong() {
        assertThat(backend.get("/backend/flights/AA/0017/2011-06-02").status()).isEqualTo(404);
        assertThat(backend.get("/backend/flights/AA/0017/soon").status()).isEqualTo(400);
        assertThat(backend.get("/backend/flights").header("Content-Length")).isNotNull();
    }

    @Test
    void poolAndCallsShowInTheMetrics() {
        app.get("/rest/flights/LH/0400/2011-06-01");
        assertThat(app.metrics()).contains(
                "httpcomponents_httpclient_pool_total_max{httpclient=\"backend\"} 20.0");
        assertThat(backend.metrics())
                .contains("uri=\"/backend/flights/{carrid}/{connid}/{fldate}\"");
    }

    @Test
    void anUnreachableBackendIs503AndNotAProblemOfTheNodeItself() {
        try (TestNode lonely = TestNode.withoutDatabase(
                "--refstack.backend.url=http://127.0.0.1:" + TestNode.freePort())) {
            Answer rest = lonely.get(Paths.REST_DETAIL);
            assertThat(rest.status()).isEqualTo(503);
            assertThat(rest.body()).contains("cannot be reached").doesNotContain("Exception");
            assertThat(lonely.get(Paths.STANDARD + Paths.KEY).status()).isEqualTo(503);
            assertThat(lonely.management("/actuator/health/liveness").status()).isEqualTo(200);
            assertThat(lonely.management("/actuator/health/readiness").status()).isEqualTo(200);
        }
    }
}
