package refstack;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import refstack.TestNode.Answer;
import refstack.bindings.TestBroker;

/** Sender and receiver in one node, and in two nodes with a broker between them. */
class BindingsTest {


    private static TestBroker broker;
    private static TestNode backend;
    private static TestNode app;
    private static TestNode alone;

    @BeforeAll
    static void start() throws Exception {
        broker = new TestBroker();
        int rpc = TestNode.freePort();
        backend = TestNode.withDatabase("--refstack.role=backend", "--refstack.parts=bindings",
                "--refstack.node.name=b-1", "--refstack.rpc.port=" + rpc,
                "--refstack.broker.url=" + broker.url());
        app = TestNode.withoutDatabase("--refstack.parts=bindings", "--refstack.node.name=a-1",
                "--refstack.backend.url=" + backend.root(),
                "--refstack.backend.rpc=127.0.0.1:" + rpc,
                "--refstack.broker.url=" + broker.url());
        alone = TestNode.withDatabase("--refstack.parts=bindings", "--refstack.node.name=c-1",
                "--refstack.bindings.max-payload=100KB", "--refstack.bindings.max-calls=500",
                "--refstack.bindings.queue-threads=1", "--refstack.bindings.queue-capacity=1");
    }

    @AfterAll
    static void stop() throws Exception {
        app.close();
        backend.close();
        alone.close();
        broker.close();
    }

    @ParameterizedTest
    @CsvSource({"direct, a-1, web", "copy, a-1, web", "queue, a-1, bindings-queue",
        "jms, b-1, bindings-jms", "http, b-1, web", "soap, b-1, web", "rpc, b-1, bindings-rpc"})
    void theReplyTellsWhoServedIt(String way, String node, String pool) {
        Answer answer = app.post("/bindings/" + way + "?id=x1&bytes=1024&calls=3");
        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        assertThat(answer.body()).contains("\"id\":\"x1\"", "\"bytes\":1024", "\"calls\":3",
                "\"pool\":\"" + pool + "\"", "\"node\":\"" + node + "\"", "\"sender\":\"a-1\"");
        assertThat(answer.body()).containsPattern("\"thread\":\"(" + pool + "|http-nio.*)-\\d+\"")
                .containsPattern("\"meanNs\":\\d+").containsPattern("\"heapFree\":\\d+");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 1024, 102_400, 1_048_576, 2_097_152})
    void everyWayCarriesTheSameBytes(int size) {
        Set<String> sums = new HashSet<>();
        for (String way : List.of("direct", "copy", "queue", "jms", "http", "soap", "rpc")) {
            Answer answer = app.post("/bindings/" + way + "?bytes=" + size);
            assertThat(answer.body()).as(way).contains("\"bytes\":" + size, "\"meanNs\":null");
            sums.add(answer.body().replaceAll(".*\"checksum\":\"([0-9a-f]{8})\".*", "$1"));
        }
        assertThat(sums).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"direct", "copy", "queue", "http", "soap", "rpc"})
    void aNodeWithoutBackEndIsItsOwnReceiver(String way) {
        Answer answer = alone.post("/bindings/" + way, "123456789".getBytes());
        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        assertThat(answer.body()).contains("\"checksum\":\"e3069283\"", "\"node\":\"c-1\"");
    }

    @Test
    void whatCannotBeDoneIsSaid() {
        assertThat(alone.post("/bindings/jms?bytes=1").status()).isEqualTo(404);
        assertThat(alone.post("/bindings/jms?bytes=1").body())
                .contains("direct, copy, queue, http, soap, rpc.");
        assertThat(alone.post("/bindings/http?bytes=102401").status()).isEqualTo(413);
        assertThat(alone.post("/bindings/http", new byte[102_401]).status()).isEqualTo(413);
        assertThat(alone.post("/bindings-receiver/http?id=1", new byte[102_401]).status())
                .isEqualTo(413);
        for (String query : List.of("bytes=-1", "calls=0", "calls=501", "id=a%20b", "bytes=x")) {
            assertThat(alone.post("/bindings/direct?" + query).status()).as(query)
                    .isEqualTo(400);
        }
        assertThat(app.post("/bindings-receiver/http?id=1").status()).isEqualTo(404);
    }

    @Test
    void brokenSoapIsRefusedAndTheServiceGoesOn() {
        Answer answer = alone.post("/bindings-receiver/soap/receiver", "<a".getBytes(),
                "Content-Type", "text/xml");
        assertThat(answer.status()).isEqualTo(500);
        assertThat(answer.body()).contains("Fault").doesNotContain("\tat ");
        String laughs = "<!DOCTYPE a [<!ENTITY a \"ha\">]><a>&a;</a>";
        assertThat(alone.post("/bindings-receiver/soap/receiver", laughs.getBytes(),
                "Content-Type", "text/xml").status()).isEqualTo(500);
        assertThat(alone.post("/bindings/soap?bytes=5").status()).isEqualTo(200);
    }

    @Test
    void aFullPoolIs503AndCounted() throws Exception {
        Set<Integer> statuses = new HashSet<>();
        for (Answer answer : alone.postAtOnce(
                Collections.nCopies(32, "/bindings/queue?bytes=100000&calls=500"))) {
            statuses.add(answer.status());
            if (answer.status() == 503) {
                assertThat(answer.header("Retry-After")).isEqualTo("1");
                assertThat(answer.body()).contains("The pool bindings-queue is full.");
            }
        }
        assertThat(statuses).contains(503).isSubsetOf(200, 503);
        assertThat(alone.metrics())
                .containsPattern("refstack_bindings_pool_rejected_total\\{pool=\"bindings-queue\"}"
                        + " [1-9]")
                .contains("refstack_bindings_failures_total{reason=\"full\",way=\"queue\"}");
        assertThat(alone.post("/bindings/queue?bytes=1").status()).isEqualTo(200);
    }

    @Test
    void callsAreCountedOnBothSides() {
        String received = "refstack_bindings_received_total{pool=\"bindings-rpc\",way=\"rpc\"}";
        double before = backend.metricOrZero(received);
        double sent = app.metricOrZero("refstack_bindings_calls_total{way=\"rpc\"}");
        app.post("/bindings/rpc?bytes=10&calls=7");
        assertThat(backend.metricOrZero(received) - before).isEqualTo(7);
        assertThat(app.metric("refstack_bindings_calls_total{way=\"rpc\"}") - sent).isEqualTo(7);
        assertThat(app.metricOrZero("refstack_bindings_first_seconds{way=\"rpc\"}")).isPositive();
    }

    @ParameterizedTest
    @ValueSource(strings = {"jms", "http", "soap", "rpc"})
    void aReceiverThatIsAwayIs503(String way) {
        try (TestNode lonely = TestNode.withoutDatabase("--refstack.parts=bindings",
                "--refstack.backend.url=http://127.0.0.1:" + TestNode.freePort(),
                "--refstack.backend.rpc=127.0.0.1:" + TestNode.freePort(),
                "--refstack.broker.url=tcp://127.0.0.1:" + TestNode.freePort())) {
            Answer answer = lonely.post("/bindings/" + way + "?bytes=1");
            assertThat(answer.status()).isEqualTo(503);
            assertThat(answer.body()).contains("cannot be reached").doesNotContain("Exception");
            assertThat(lonely.post("/bindings/direct?bytes=1").status()).isEqualTo(200);
        }
    }

    @Test
    void theBrokerMayComeBack() throws Exception {
        try (TestBroker other = new TestBroker();
                TestNode node = TestNode.withDatabase("--refstack.parts=bindings",
                        "--refstack.bindings.timeout=2s",
                        "--refstack.broker.url=" + other.url())) {
            assertThat(node.post("/bindings/jms?bytes=9").status()).isEqualTo(200);
            other.close();
            assertThat(node.post("/bindings/jms?bytes=9").status()).isIn(503, 504);
            try (TestBroker again = new TestBroker(other.url())) {
                int status = 0;
                for (int i = 0; i < 50 && status != 200; i++) {
                    Thread.sleep(100);
                    status = node.post("/bindings/jms?bytes=9").status();
                }
                assertThat(status).isEqualTo(200);
            }
        }
    }
}
