package refstack;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import refstack.TestNode.Answer;

/** An app node that calls a back end node in three ways. */
class ConnectorTest {

    private static final String XML = "application/xml";
    private static final int POOL = 2;

    private static final int RPC_PORT = TestNode.freePort();
    private static TestNode backend;
    private static TestNode app;

    @BeforeAll
    static void start() {
        backend = backend(RPC_PORT);
        app = app(backend.root(), RPC_PORT);
    }

    @AfterAll
    static void stop() {
        app.close();
        backend.close();
    }

    private static TestNode backend(int rpcPort, String... settings) {
        List<String> all = new ArrayList<>(List.of(settings));
        all.addAll(List.of("--refstack.role=backend", "--refstack.parts=connectors",
                "--refstack.rpc.port=" + rpcPort, "--refstack.connector.iterations=1000",
                "--refstack.connector.max-body=64KB"));
        return TestNode.withDatabase(all.toArray(String[]::new));
    }

    private static TestNode app(String backendUrl, int rpcPort, String... settings) {
        List<String> all = new ArrayList<>(List.of(settings));
        all.addAll(List.of("--refstack.parts=connectors", "--refstack.backend.url=" + backendUrl,
                "--refstack.backend.rpc=127.0.0.1:" + rpcPort, "--refstack.connector.pool=" + POOL,
                "--refstack.node.data=" + Path.of("target", "connector-test").toAbsolutePath(),
                "--refstack.connector.max-body=64KB"));
        return TestNode.withoutDatabase(all.toArray(String[]::new));
    }

    @ParameterizedTest
    @ValueSource(strings = {"soap", "rpc", "logged"})
    void everyWayStoresAMessageOnce(String way) throws Exception {
        byte[] body = "<message>\u00e4\u20ac</message>".getBytes(StandardCharsets.UTF_8);
        String id = "once:" + way;
        Answer first = send(app, way, id, body);
        assertThat(first.status()).isEqualTo(200);
        assertThat(first.body()).contains("\"id\":\"" + id + "\"", "\"bytes\":24",
                "\"stored\":true", "\"way\":\"" + way + "\"", "\"node\":\"node\"");
        Answer again = send(app, way, id, "<other/>".getBytes(StandardCharsets.UTF_8));
        assertThat(again.status()).isEqualTo(200);
        assertThat(again.body()).contains("\"stored\":false", "\"bytes\":8");
        assertThat(rows("id = '" + id + "' and way = '" + way + "' and bytes = 24")).isEqualTo(1);
        assertThat(rows("id = '" + id + "'")).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({"soap, 10, 10, 0", "rpc, 0, 0, 0", "logged, 0, 0, 10"})
    void eachWayCostsWhatItIsSaidToCost(String way, int connections, int logins, int forces) {
        warmUp(way);
        String protocol = "soap".equals(way) ? "soap" : "rpc";
        String opened = "connections_total{protocol=\"" + protocol + "\"}";
        String checked = "logins_total{protocol=\"" + protocol + "\"}";
        String forced = "log_forces_total{way=\"logged\"}";
        String calls = "calls_total{way=\"" + way + "\"}";
        String stored = "stored_total{way=\"" + way + "\"}";
        String prepared = "branches_total{outcome=\"prepared\"}";
        double[] before = {value(backend, opened), value(backend, checked), value(app, forced),
            value(backend, calls), value(backend, stored), value(backend, prepared)};
        for (int i = 0; i < 10; i++) {
            assertThat(send(app, way, "cost:" + way + i, bytes(2048)).status()).isEqualTo(200);
        }
        assertThat(value(backend, opened) - before[0]).isEqualTo(connections);
        assertThat(value(backend, checked) - before[1]).isEqualTo(logins);
        assertThat(value(app, forced) - before[2]).isEqualTo(forces);
        assertThat(value(backend, calls) - before[3]).isEqualTo(10);
        assertThat(value(backend, stored) - before[4]).isEqualTo(10);
        assertThat(value(backend, prepared) - before[5]).isEqualTo(forces);
    }

    @ParameterizedTest
    @ValueSource(strings = {"soap", "rpc", "logged"})
    void manyAtOnceAreEachAnsweredWithTheirOwn(String way) throws Exception {
        ExecutorService callers = Executors.newFixedThreadPool(8);
        try {
            List<Future<Answer>> answers = new ArrayList<>();
            for (int i = 0; i < 80; i++) {
                int number = i;
                answers.add(callers.submit(() ->
                        send(app, way, "many:" + way + number, bytes(100 + number))));
            }
            for (int i = 0; i < 80; i++) {
                assertThat(answers.get(i).get().body()).contains(
                        "\"id\":\"many:" + way + i + "\"", "\"bytes\":" + (100 + i) + ",");
            }
        } finally {
            callers.shutdownNow();
        }
        assertThat(rows("id like 'many:" + way + "%'")).isEqualTo(80);
        assertThat(value(app, "pool_active{pool=\"rpc\"}")).isZero();
        assertThat(value(backend, "branches_open{way=\"logged\"}")).isZero();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "mail | x | 5 | 404 | logged, rpc, soap | unknown",
        "rpc | | 5 | 400 | The id must have 1 to 64 | malformed",
        "soap | a%20b | 5 | 400 | The id must have 1 to 64 | malformed",
        "logged | x | 0 | 400 | must not be empty | malformed",
        "rpc | x | 65537 | 413 | at most 65536 bytes | oversized"})
    void whatCannotBeSentIsRefused(String way, String id, int size, int status, String words,
            String reason) {
        String counter = "rejected_total{reason=\"" + reason + "\"}";
        double before = value(app, counter);
        Answer answer = send(app, way, id == null ? "" : id, bytes(size));
        assertThat(answer.status()).isEqualTo(status);
        assertThat(answer.type()).isEqualTo("application/problem+json");
        assertThat(answer.body()).contains("\"status\":" + status, words)
                .doesNotContain("Exception");
        assertThat(value(app, counter)).isEqualTo(before + 1);
    }

    @Test
    void theLargestMessageIsTakenInEveryWay() {
        for (String way : List.of("soap", "rpc", "logged")) {
            assertThat(send(app, way, "largest:" + way, bytes(65536)).status()).isEqualTo(200);
        }
    }

    @Test
    void aFormIsNotAMessage() {
        assertThat(app.post("/connectors/rpc/messages?id=form", bytes(5), "Content-Type",
                "application/x-www-form-urlencoded").status()).isEqualTo(415);
        assertThat(app.get("/connectors/rpc/messages?id=form").status()).isEqualTo(405);
    }

    @Test
    void wrongCredentialsAreRefusedAndCounted() {
        try (TestNode stranger = app(backend.root(), RPC_PORT,
                "--refstack.connector.password=wrong")) {
            for (String way : List.of("soap", "rpc", "logged")) {
                String refused = "logins_refused_total{protocol=\""
                        + ("soap".equals(way) ? "soap" : "rpc") + "\"}";
                double before = value(backend, refused);
                Answer answer = send(stranger, way, "stranger:" + way, bytes(5));
                assertThat(answer.status()).isEqualTo(503);
                assertThat(answer.header("Retry-After")).isEqualTo("1");
                assertThat(answer.body()).contains("refused name and password")
                        .doesNotContain("Exception");
                assertThat(value(backend, refused)).isGreaterThan(before);
            }
            assertThat(value(stranger, "rejected_total{reason=\"unavailable\"}")).isEqualTo(3);
        }
    }

    @Test
    void theServiceGoesOnWhenTheBackEndIsBack() {
        int rpcPort = TestNode.freePort();
        TestNode first = backend(rpcPort);
        try (TestNode caller = app(first.root(), rpcPort, "--refstack.connector.call-timeout=5s")) {
            for (String way : List.of("soap", "rpc", "logged")) {
                assertThat(send(caller, way, "before:" + way, bytes(5)).status()).isEqualTo(200);
            }
            first.close();
            for (String way : List.of("soap", "rpc", "logged", "soap", "rpc", "logged")) {
                Answer answer = send(caller, way, "away:" + way, bytes(5));
                assertThat(answer.status()).isEqualTo(503);
                assertThat(answer.body()).contains("The back end cannot be reached.");
            }
            try (TestNode second = backend(rpcPort,
                    "--server.port=" + first.port())) {
                for (String way : List.of("soap", "rpc", "logged")) {
                    assertThat(send(caller, way, "after:" + way, bytes(5)).status())
                            .isEqualTo(200);
                }
                assertThat(value(second, "logins_total{protocol=\"rpc\"}")).isGreaterThan(1)
                        .isEqualTo(value(second, "connections_total{protocol=\"rpc\"}"));
            }
        } finally {
            first.close();
        }
    }

    @Test
    void soapItselfRefusesWhatItCannotRead() {
        double before = value(backend, "logins_refused_total{protocol=\"soap\"}");
        assertThat(soap("<x/>", null).status()).isEqualTo(401);
        assertThat(soap("<x/>", "sizebook:wrong").status()).isEqualTo(401);
        assertThat(value(backend, "logins_refused_total{protocol=\"soap\"}"))
                .isEqualTo(before + 2);
        String right = "sizebook:sizebook";
        String bomb = "<!DOCTYPE a [<!ENTITY b 'bbbbbbbbbb'><!ENTITY c '&b;&b;&b;&b;'>]>"
                + envelope("&c;", "QQ==");
        for (String text : List.of("not XML", "<a><b></a>", "<x/>", bomb,
                envelope("no good id", "QQ=="), envelope("x", ""))) {
            Answer answer = soap(text, right);
            assertThat(answer.status()).as(text).isEqualTo(400);
            assertThat(answer.body()).contains("Fault").doesNotContain("\tat ", "bbbbbb");
        }
        assertThat(soap(envelope("large", "QUFB".repeat(25_000)), right).status()).isEqualTo(413);
        assertThat(soap(envelope("by-hand", "QUFB"), right).body())
                .contains("<bytes>3</bytes>", "<stored>true</stored>");
    }

    private static String envelope(String id, String body) {
        return "<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\"><s:Body>"
                + "<p:process xmlns:p=\"urn:refstack:back-end\"><id>" + id + "</id><body>" + body
                + "</body></p:process></s:Body></s:Envelope>";
    }

    private static Answer soap(String text, String credentials) {
        List<String> headers = new ArrayList<>(List.of("Content-Type", "text/xml"));
        if (credentials != null) {
            headers.addAll(List.of("Authorization", "Basic " + Base64.getEncoder()
                    .encodeToString(credentials.getBytes(StandardCharsets.UTF_8))));
        }
        return backend.post("/soap/back-end", text.getBytes(StandardCharsets.UTF_8),
                headers.toArray(String[]::new));
    }

    private static void warmUp(String way) {
        for (int i = 0; i < POOL; i++) {
            send(app, way, "warm:" + way + i, bytes(5));
        }
    }

    private static Answer send(TestNode node, String way, String id, byte[] body) {
        return node.post("/connectors/" + way + "/messages?id=" + id, body, "Content-Type", XML);
    }

    private static byte[] bytes(int size) {
        return "x".repeat(size).getBytes(StandardCharsets.UTF_8);
    }

    private static double value(TestNode node, String series) {
        return node.metric("refstack_connector_" + series);
    }

    private static int rows(String condition) {
        return Integer.parseInt(TestDatabase.ask(TestDatabase.url(),
                "select count(*) from connector_message where " + condition));
    }
}
