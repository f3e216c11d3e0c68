package refstack;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import refstack.TestNode.Answer;
import refstack.bindings.TestBroker;

/** Pools of their own and a shared one, work that takes its time, messages that nobody waits for. */
class BindingPoolsTest {


    private static QueueDatabase database;
    private static TestBroker broker;
    private static TestNode own;
    private static TestNode shared;

    @BeforeAll
    static void start() throws Exception {
        database = new QueueDatabase("pools");
        broker = new TestBroker();
        own = database.node("bindings", "unused", "--refstack.node.name=own",
                "--refstack.bindings.rpc-idle=250ms",
                "--refstack.broker.url=" + broker.url());
        shared = database.node("bindings", "unused", "--refstack.node.name=shared",
                "--refstack.bindings.shared-threads=2");
    }

    @AfterAll
    static void stop() throws Exception {
        own.close();
        shared.close();
        broker.close();
    }

    private static double counted(TestNode node, String series) {
        return node.metrics().lines()
                .filter(line -> line.startsWith(series))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    @ParameterizedTest
    @ValueSource(strings = {"queue", "rpc"})
    void oneExecutorServesAllIfItIsShared(String way) {
        Answer answer = shared.post("/bindings/" + way + "?bytes=10");
        assertThat(answer.body()).contains("\"pool\":\"bindings-shared\"");
        assertThat(shared.get("/bindings-pools").body())
                .contains("{\"pool\":\"bindings-shared\",\"threads\":2,")
                .doesNotContain("bindings-queue", "bindings-rpc");
        assertThat(shared.metrics())
                .contains("refstack_bindings_pool_limit{pool=\"bindings-shared\"} 2.0");
    }

    @Test
    void aSharedExecutorServesMessagesToo() throws Exception {
        try (TestBroker other = new TestBroker();
                TestNode node = database.node("bindings", "unused", "--refstack.node.name=all",
                "--refstack.bindings.shared-threads=1", "--refstack.bindings.shared-capacity=1",
                "--refstack.bindings.jms-consumers=3",
                "--refstack.broker.url=" + other.url())) {
            assertThat(node.post("/bindings/jms?bytes=10").body())
                    .contains("\"pool\":\"bindings-shared\"");
            for (int i = 0; i < 9; i++) {
                node.post("/bindings/jms?bytes=1&one-way=true&work=pause:5&id=s-" + i);
            }
            QueueDatabase.await("all nine", () -> counted(node,
                    "refstack_bindings_one_way_total{outcome=\"done\"") == 9);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"direct", "copy", "queue", "jms", "http", "soap", "rpc"})
    void everyWayCarriesTheWork(String way) {
        String id = "work-" + way;
        Answer answer = own.post("/bindings/" + way + "?bytes=10&id=" + id
                + "&work=rounds:3,pause:2,row");
        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        assertThat(database.number("select count(*) from binding_message where id = '" + id
                + "' and way = '" + way + "' and bytes = 10")).isEqualTo(1);
        assertThat(answer.body().replaceAll(".*\"firstNs\":(\\d+),.*", "$1"))
                .satisfies(nanos -> assertThat(Long.parseLong(nanos)).isGreaterThan(2_000_000));
    }

    @ParameterizedTest
    @CsvSource({"queue, true", "jms, true", "direct, false", "copy, false", "http, false",
        "soap, false", "rpc, false"})
    void whoHasAQueueNeedNotWait(String way, boolean hasQueue) {
        Answer answer = own.post("/bindings/" + way + "?bytes=5&id=one-" + way
                + "&calls=4&one-way=true&work=row");
        assertThat(answer.status()).as(answer.body()).isEqualTo(hasQueue ? 202 : 400);
        if (hasQueue) {
            assertThat(answer.body()).contains("\"queued\":true", "\"calls\":4");
            QueueDatabase.await("four rows", () -> database.number("select count(*) from "
                    + "binding_message where id like 'one-" + way + "-%'") == 4);
        }
    }

    @Test
    void oneConsumerKeepsTheOrderOfASenderAndAnswersAtOnce() {
        assertThat(own.post("/bindings-pools/bindings-jms-sessions?threads=1").status())
                .isEqualTo(200);
        String done = "refstack_bindings_one_way_total{outcome=\"done\",way=\"jms\"}";
        double before = counted(own, done);
        double late = counted(own, "refstack_bindings_late_total{way=\"jms\"}");
        own.post("/bindings/jms?bytes=1&id=ordered&calls=40&one-way=true&work=pause:1");
        QueueDatabase.await("all done", () -> counted(own, done) - before == 40);
        assertThat(counted(own, "refstack_bindings_late_total{way=\"jms\"}")).isEqualTo(late);
        own.post("/bindings-pools/bindings-jms-sessions?threads=10");
        assertThat(own.get("/bindings-pools").body())
                .contains("{\"pool\":\"bindings-jms-sessions\",\"threads\":10,");
    }

    @Test
    void aFailedMessageOfTheBrokerComesAgain() {
        String done = "refstack_bindings_one_way_total{outcome=\"done\",way=\"jms\"}";
        double before = counted(own, done);
        database.execute("alter table binding_message rename to hidden");
        try {
            own.post("/bindings/jms?bytes=1&id=again&one-way=true&work=row");
            QueueDatabase.await("a failure", () -> counted(own,
                    "refstack_bindings_one_way_total{outcome=\"failed\",way=\"jms\"}") > 0);
        } finally {
            database.execute("alter table hidden rename to binding_message");
        }
        QueueDatabase.await("done later", () -> counted(own, done) > before);
        assertThat(database.number("select count(*) from binding_message where id = 'again'"))
                .isEqualTo(1);
    }

    @Test
    void poolsAreMadeSmallerAndLargerWhileTheNodeRuns() throws Exception {
        String busiest = "refstack_bindings_pool_largest{pool=\"bindings-queue\"}";
        for (int threads : List.of(2, 5)) {
            own.post("/bindings-pools/bindings-queue?threads=" + threads);
            manyCalls("/bindings/queue?bytes=1&work=pause:20", 12);
            assertThat(counted(own, busiest)).isEqualTo(threads);
        }
        assertThat(own.get("/bindings-pools").body())
                .contains("{\"pool\":\"bindings-rpc\",\"threads\":10,\"grows\":false,\"idleMs\":250}");
        own.post("/bindings-pools/bindings-rpc?threads=1&grows=true&idle=1s");
        manyCalls("/bindings/rpc?bytes=1&work=pause:50", 3);
        assertThat(counted(own, "refstack_bindings_pool_largest{pool=\"bindings-rpc\"}"))
                .isBetween(2.0, 3.0);
    }

    @Test
    void webThreadsAreLimitedToo() throws Exception {
        try {
            own.post("/bindings-pools/web?threads=1");
            assertThat(counted(own, "tomcat_threads_config_max_threads{name=\"http-nio-"
                    + "127.0.0.1-" + own.port() + "\"")).isEqualTo(1);
            long begin = System.nanoTime();
            manyCalls("/bindings/direct?bytes=1&work=pause:20", 6);
            assertThat(System.nanoTime() - begin).isGreaterThan(6 * 20_000_000L);
        } finally {
            own.post("/bindings-pools/web?threads=50");
        }
        assertThat(own.get("/bindings-pools").body()).contains("{\"pool\":\"web\",\"threads\":50,");
    }

    private static void manyCalls(String path, int count) throws Exception {
        for (Answer answer : own.postAtOnce(Collections.nCopies(count, path))) {
            assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        }
    }

    @Test
    void whatCannotBeDoneIsSaid() {
        assertThat(own.post("/bindings/queue?bytes=1&work=sleep").status())
                .isEqualTo(400);
        assertThat(own.post("/bindings-receiver/http?id=1&work=x").status())
                .isEqualTo(400);
        assertThat(own.post("/bindings-pools/sauna?threads=1").status()).isEqualTo(404);
        for (String path : List.of("web?threads=0", "web?threads=5&grows=true", "web?threads=x",
                "bindings-jms-sessions?threads=0", "bindings-queue?threads=-1", "bindings-rpc?idle=soon")) {
            assertThat(own.post("/bindings-pools/" + path).status()).as(path)
                    .isEqualTo(400);
        }
        try (TestNode sender = TestNode.withoutDatabase("--refstack.parts=bindings",
                "--refstack.backend.url=" + own.root(), "--refstack.backend.rpc=127.0.0.1:1")) {
            assertThat(sender.post("/bindings/queue?bytes=1&work=row").status())
                    .isEqualTo(400);
            assertThat(sender.post("/bindings/http?bytes=1&work=row&id=far-1").status())
                    .isEqualTo(200);
        }
    }
}
