package refstack;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import refstack.TestNode.Answer;
import refstack.load.LoadForTests;

/** Limits that are changed while a node of the business runs do what the same ones at its start do. */
class BusinessLimitsTest {

    private static final String LIMITS = "/business/limits";

    @AutoClose
    private static TestNode node;

    @BeforeAll
    static void start() throws SQLException {
        String url = TestDatabase.emptyUrl("limits");
        LoadForTests.loadBusiness(url, 20);
        node = TestNode.withDatabaseAt(url, "--refstack.parts=business",
                "--refstack.business.sessions=database",
                "--refstack.business.sessions-in-memory=20", "--refstack.business.workers=3");
    }

    private static void set(String limits) {
        Answer answer = node.post(LIMITS + "?" + limits);
        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
    }

    @Test
    void theyAreThoseOfTheStart() {
        set("threads=50");
        assertThat(node.get(LIMITS).body()).isEqualTo("{\"business_workers\":3,"
                + "\"keep_alive_requests\":-1,\"pool\":4,\"sessions_in_memory\":20,"
                + "\"threads\":50}");
    }

    @Test
    void databaseConnectionsAreOpenedAndClosedAtOnce() {
        try {
            for (int connections : List.of(9, 2, 6)) {
                set("pool=" + connections);
                // The metric is a reading of up to a second ago.
                QueueDatabase.await("as many connections", () -> connections
                        == node.metricOrZero("hikaricp_connections{pool=\"flights\"}"));
                assertThat(signedOn(1).status()).isEqualTo(200);
            }
        } finally {
            set("pool=4");
        }
    }

    @Test
    void soManyWorkersWork() throws Exception {
        try {
            for (int workers : List.of(1, 0, 2)) {
                set("business_workers=" + workers);
                assertThat(node.metricOrZero("refstack_business_workers{state=\"limit\"}"))
                        .isEqualTo(workers);
                atOnce(8);
                assertThat(node.metricOrZero("refstack_business_workers{state=\"busy\"}")).isZero();
            }
        } finally {
            set("business_workers=3");
        }
    }

    @Test
    void sessionsBeyondTheMemoryAreRead() {
        String memory = "refstack_business_sessions{state=\"memory\"}";
        try {
            for (int user = 1; user <= 6; user++) {
                assertThat(signedOn(user).status()).isEqualTo(200);
            }
            assertThat(node.metricOrZero(memory)).isGreaterThanOrEqualTo(6);
            set("sessions_in_memory=2");
            assertThat(node.metricOrZero(memory)).isZero();
            for (int user = 1; user <= 6; user++) {
                assertThat(signedOn(user).status()).isEqualTo(200);
            }
            assertThat(node.metricOrZero(memory)).isEqualTo(2);
            set("sessions_in_memory=0");
            String restored = "refstack_business_sessions_events_total{event=\"restored\"}";
            double before = node.metricOrZero(restored);
            String cookie = signedOn(7).header("Set-Cookie").split(";")[0];
            assertThat(node.get("/business/items/1", "Cookie", cookie).status()).isEqualTo(200);
            assertThat(node.get("/business/items/2", "Cookie", cookie).status()).isEqualTo(200);
            assertThat(node.metricOrZero(restored)).isEqualTo(before + 2);
        } finally {
            set("sessions_in_memory=20");
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "3, 3", "-1, 5"})
    void aConnectionServesSoManyRequests(int limit, int served) throws IOException {
        try {
            set("keep_alive_requests=" + limit);
            assertThat(servedByOneConnection(5)).isEqualTo(served);
        } finally {
            set("keep_alive_requests=-1");
        }
    }

    private static int servedByOneConnection(int most) throws IOException {
        try (Socket socket = new Socket("127.0.0.1", node.port())) {
            BufferedReader answers = new BufferedReader(new InputStreamReader(
                    socket.getInputStream(), StandardCharsets.US_ASCII));
            for (int served = 0; served < most; served++) {
                socket.getOutputStream().write(("GET /business/size HTTP/1.1\r\n"
                        + "Host: here\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
                boolean isLast = false;
                int length = 0;
                for (String line = answers.readLine(); !line.isEmpty();
                        line = answers.readLine()) {
                    isLast |= line.equalsIgnoreCase("Connection: close");
                    if (line.startsWith("Content-Length: ")) {
                        length = Integer.parseInt(line.substring("Content-Length: ".length()));
                    }
                }
                for (int read = 0; read < length; read++) {
                    answers.read();
                }
                if (isLast) {
                    assertThat(answers.read()).isEqualTo(-1);
                    return served + 1;
                }
            }
            return most;
        }
    }

    @Test
    void webThreadsAreLimited() {
        try {
            set("threads=2");
            assertThat(node.metric("tomcat_threads_config_max_threads{name=\"http-nio-127.0.0.1-"
                    + node.port() + "\"}")).isEqualTo(2);
        } finally {
            set("threads=50");
        }
    }

    @ParameterizedTest
    @CsvSource({"pool=0", "business_workers=-1", "sessions_in_memory=-1", "keep_alive_requests=0",
        "threads=0", "threads=many", "workers=1", "workers=1&pool=2"})
    void whatCannotBeIsRefusedAndChangesNothing(String limits) {
        set("threads=50");
        String before = node.get(LIMITS).body();
        Answer answer = node.post(LIMITS + "?" + limits);
        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.body()).contains("\"detail\":");
        assertThat(node.get(LIMITS).body()).isEqualTo(before);
    }

    private static Answer signedOn(int user) {
        return node.post("/business/sign-on?user=" + user);
    }

    private static void atOnce(int count) throws Exception {
        for (Answer answer : node.postAtOnce(IntStream.rangeClosed(1, count)
                .mapToObj(user -> "/business/sign-on?user=" + user).toList())) {
            assertThat(answer.status()).isEqualTo(200);
        }
    }
}
