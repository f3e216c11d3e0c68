package refstack;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import refstack.TestNode.Answer;

/** Ordered faults, and a database that is away. */
class FaultTest {

    @Test
    void theFirstFlightsTimeOutAndTheOthersDoNot() {
        try (TestNode app = TestNode.withDatabase("--refstack.fault.flights=2",
                "--refstack.fault.delay=300ms", "--refstack.backend.cache=true")) {
            long start = System.nanoTime();
            Answer first = app.get("/rest/flights/AA/0017/2011-06-01");
            long millis = (System.nanoTime() - start) / 1_000_000;
            assertThat(first.status()).isEqualTo(504);
            assertThat(first.type()).isEqualTo("application/json");
            assertThat(first.body()).contains("\"title\":\"Gateway Timeout\"");
            assertThat(millis).isBetween(300L, 5_000L);
            assertThat(app.get(Paths.STANDARD + Paths.KEY).status()).isEqualTo(504);
            assertThat(app.get("/rest/flights/AA/0017/2011-06-15").status()).isEqualTo(504);
            assertThat(app.get("/rest/flights/AA/0017/2011-06-29").status()).isEqualTo(200);
            assertThat(app.get("/rest/flights").status()).isEqualTo(200);
        }
    }

    @Test
    void withoutItsDatabaseANodeLivesButIsNotReady() {
        try (TestNode app = TestNode.withoutDatabase(
                "--spring.datasource.url=jdbc:postgresql://127.0.0.1:" + TestNode.freePort() + "/x",
                "--spring.datasource.hikari.connection-timeout=250")) {
            assertThat(app.management("/actuator/health/liveness").status()).isEqualTo(200);
            assertThat(app.management("/actuator/health/readiness").status()).isEqualTo(503);
            assertThat(app.get(Paths.REST_LIST).status()).isEqualTo(503);
            assertThat(app.get(Paths.STANDARD + Paths.KEY).status()).isEqualTo(503);
        }
    }
}
