package refstack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import refstack.TestNode.Answer;

/** Messages over a broker in the node, into a real database. */
class MessagingTest {

    private static final QueueDatabase DATABASE = new QueueDatabase("messaging");
    private static final String NO_CONSUMERS = "--refstack.messaging.consumers=0";

    @TempDir
    private Path data;

    @BeforeEach
    void empty() {
        DATABASE.execute("truncate messaging_row");
    }

    @Test
    void aMessageSentSeveralTimesIsStoredOnce() {
        try (TestNode node = node()) {
            for (int i = 0; i < 3; i++) {
                Answer answer = node.post("/messaging/messages?id=m-1&queue=work", new byte[70]);
                assertThat(answer.status()).isEqualTo(200);
                assertThat(answer.body()).contains("\"id\":\"m-1\"", "\"bytes\":70",
                        "\"queued\":true");
            }
            awaitEmpty(node);
            QueueDatabase.await("three counted",
                    () -> state(node, "stored") == 1 && state(node, "duplicates") == 2);
            assertThat(DATABASE.number("select sum(bytes) from messaging_row")).isEqualTo(70);
        }
    }

    @Test
    void whatWasFilledIsDrainedExactlyAndAgainWithoutEffect() {
        try (TestNode node = node(NO_CONSUMERS)) {
            fill(node, 2000, 7);
            assertThat(state(node, "depth")).isEqualTo(2000);
            assertThat(rows()).isZero();
            consumers(node, 4);
            awaitEmpty(node);
            assertThat(rows()).isEqualTo(2000);
            assertThat(DATABASE.number("select sum(bytes) from messaging_row")).isEqualTo(200_000);
            QueueDatabase.await("2000 counted", () -> state(node, "stored") == 2000);

            fill(node, 2000, 7);
            awaitEmpty(node);
            QueueDatabase.await("2000 duplicates", () -> state(node, "duplicates") == 2000);
            assertThat(rows()).isEqualTo(2000);
            String metrics = node.metrics();
            assertThat(metrics).contains("refstack_messaging_messages_total{outcome=\"stored\"} 2000.0",
                    "refstack_messaging_messages_total{outcome=\"duplicate\"} 2000.0",
                    "refstack_messaging_messages_total{outcome=\"sent\"} 4000.0",
                    "refstack_messaging_consumers{state=\"all\"} 4.0",
                    "refstack_broker_queue_acknowledged_total{queue=\"work\"} 4000.0");
            assertThat(node.metric("refstack_broker_journal_syncs_total{journal=\"messages\"}"))
                    .isPositive();
        }
    }

    @Test
    void consumersThatAreStoppedLeaveTheRestInTheQueue() {
        try (TestNode node = node(NO_CONSUMERS)) {
            fill(node, 600, 1);
            consumers(node, 2);
            QueueDatabase.await("some rows", () -> rows() > 20);
            consumers(node, 0);
            assertThat(state(node, "depth") + rows()).isEqualTo(600);
            assertThat(state(node, "delivering")).isZero();
            assertThat(state(node, "consumers")).isZero();
            consumers(node, 3);
            awaitEmpty(node);
            assertThat(rows()).isEqualTo(600);
        }
    }

    @Test
    void theQueueSurvivesTheNode() {
        try (TestNode node = node(NO_CONSUMERS)) {
            fill(node, 300, 3);
            consumers(node, 1);
            QueueDatabase.await("some rows", () -> rows() > 5);
        }
        long before = rows();
        try (TestNode node = node(NO_CONSUMERS)) {
            assertThat(state(node, "depth") + before).isGreaterThanOrEqualTo(300);
            consumers(node, 4);
            awaitEmpty(node);
            assertThat(rows()).isEqualTo(300);
        }
    }

    @Test
    void messagesWaitWhileTheDatabaseRefuses() {
        try (TestNode node = node("--refstack.broker.embedded.redelivery-delay-ms=50")) {
            DATABASE.execute("alter table messaging_row rename to hidden");
            try {
                fill(node, 20, 9);
                QueueDatabase.await("failures",
                        () -> node.metric(
                                "refstack_messaging_messages_total{outcome=\"failed\"}") >= 5);
                assertThat(state(node, "depth")).isEqualTo(20);
            } finally {
                DATABASE.execute("alter table hidden rename to messaging_row");
            }
            awaitEmpty(node);
            assertThat(rows()).isEqualTo(20);
            assertThat(state(node, "dead")).isZero();
        }
    }

    @Test
    void aMessageThatFailsTooOftenIsPutAside() {
        try (TestNode node = node("--refstack.broker.embedded.redelivery-delay-ms=20",
                "--refstack.broker.embedded.max-deliveries=2")) {
            DATABASE.execute("alter table messaging_row rename to hidden");
            try {
                node.post("/messaging/messages?id=poison", new byte[5]);
                QueueDatabase.await("a dead message and no other",
                        () -> state(node, "dead") == 1 && state(node, "depth") == 0);
            } finally {
                DATABASE.execute("alter table hidden rename to messaging_row");
            }
            node.post("/messaging/messages?id=wholesome", new byte[5]);
            awaitEmpty(node);
            assertThat(rows()).isEqualTo(1);
            assertThat(node.metrics())
                    .contains("refstack_broker_queue_killed_total{queue=\"work\"} 1.0");
        }
    }

    @Test
    void aFullQueueRefusesAndTakesMessagesAgainWhenThereIsRoom() {
        try (TestNode node = node(NO_CONSUMERS,
                "--refstack.broker.embedded.queue-max-bytes=20000")) {
            int accepted = 0;
            Answer answer = null;
            for (int i = 0; i < 100 && (answer == null || answer.status() == 200); i++) {
                answer = node.post("/messaging/messages?id=f-" + i, new byte[1000]);
                accepted += answer.status() == 200 ? 1 : 0;
            }
            assertThat(answer.status()).isEqualTo(503);
            assertThat(answer.header("Retry-After")).isEqualTo("1");
            assertThat(answer.body()).contains("Queue work is full.");
            assertThat(accepted).isBetween(5, 25);
            assertThat(state(node, "depth")).isEqualTo(accepted);
            assertThat(node.post("/messaging/fill?count=100&bytes=1000&seed=2").status())
                    .isEqualTo(503);
            consumers(node, 2);
            awaitEmpty(node);
            assertThat(node.post("/messaging/messages?id=last", new byte[1000]).status())
                    .isEqualTo(200);
            int all = accepted + 1;
            QueueDatabase.await("all rows", () -> rows() == all);
            assertThat(node.metrics())
                    .contains("refstack_messaging_refused_total{reason=\"full\"} 2.0");
        }
    }

    @Test
    void aMessageOfAMegabyteIsStored() {
        try (TestNode node = node()) {
            assertThat(node.post("/messaging/messages?id=large", new byte[1 << 20]).status())
                    .isEqualTo(200);
            awaitEmpty(node);
            assertThat(DATABASE.number("select sum(bytes) from messaging_row"))
                    .isEqualTo(1 << 20);
        }
    }

    /** As an experiment needs it that fills the heap with messages. */
    @Test
    void largeMessagesMayBeKeptInMemoryAndInTheJournal() {
        String setting = "--refstack.broker.embedded.large-bytes=2000000";
        try (TestNode node = node(NO_CONSUMERS, setting)) {
            for (int i = 0; i < 3; i++) {
                assertThat(node.post("/messaging/messages?id=heap-" + i, new byte[1 << 20])
                        .status()).isEqualTo(200);
            }
            assertThat(node.metric("refstack_broker_memory_bytes{of=\"messages\"}"))
                    .isGreaterThan(3 << 20);
        }
        try (TestNode node = node(setting)) {
            awaitEmpty(node);
            assertThat(rows()).isEqualTo(3);
            assertThat(DATABASE.number("select sum(bytes) from messaging_row"))
                    .isEqualTo(3 << 20);
        }
    }

    @Test
    void aNodeWithoutThePartHasNoBroker() {
        try (TestNode node = DATABASE.node("rest,odata", data)) {
            assertThat(node.management("/actuator/health/readiness").status()).isEqualTo(200);
            assertThat(node.metrics())
                    .doesNotContain("refstack_broker", "refstack_messaging");
            assertThat(data.resolve("broker")).doesNotExist();
            assertThat(node.post("/messaging/messages?id=a", new byte[1]).status())
                    .isEqualTo(404);
        }
    }

    @Test
    void twoBrokersDoNotShareTheirData() {
        try (TestNode node = node()) {
            assertThatThrownBy(this::node).hasStackTraceContaining("the broker did not start");
            assertThat(node.post("/messaging/messages?id=still", new byte[1]).status())
                    .isEqualTo(200);
        }
    }

    @Test
    void hostileRequestsAreRefusedAndTheServiceGoesOn() {
        try (TestNode node = node()) {
            refused(node, 404, "/messaging/messages?id=a&queue=dead", 1);
            refused(node, 404, "/messaging/messages?id=a&queue=nowhere", 1);
            refused(node, 400, "/messaging/messages?id=a%20b", 1);
            refused(node, 400, "/messaging/messages?id=" + "x".repeat(201), 1);
            refused(node, 400, "/messaging/messages", 1);
            refused(node, 413, "/messaging/messages?id=a", (2 << 20) + 1);
            refused(node, 400, "/messaging/fill?count=0&bytes=1&seed=1", 0);
            refused(node, 400, "/messaging/fill?count=many&bytes=1&seed=1", 0);
            refused(node, 400, "/messaging/fill?count=1&bytes=99999999&seed=1", 0);
            refused(node, 400, "/messaging/fill?count=1&bytes=1", 0);
            refused(node, 421, "/messaging/fill?count=1&bytes=1&seed=1&node=other", 0);
            refused(node, 421, "/messaging/consumers?count=9&node=other", 0);
            assertThat(node.get("/messaging/state?node=other").status()).isEqualTo(421);
            assertThat(node.get("/messaging/state?node=node").status()).isEqualTo(200);
            refused(node, 400, "/messaging/consumers?count=-1", 0);
            refused(node, 400, "/messaging/consumers?count=1001", 0);
            assertThat(node.post("/messaging/messages?id=a", new byte[0]).status()).isEqualTo(200);
            awaitEmpty(node);
            assertThat(rows()).isEqualTo(1);
            String metrics = node.metrics();
            assertThat(metrics).contains("refstack_messaging_refused_total{reason=\"queue\"} 2.0",
                    "refstack_messaging_refused_total{reason=\"malformed\"} 9.0",
                    "refstack_messaging_refused_total{reason=\"oversized\"} 1.0");
        }
    }

    private static void refused(TestNode node, int status, String path, int bytes) {
        Answer answer = node.post(path, new byte[bytes]);
        assertThat(answer.status()).as(path).isEqualTo(status);
        assertThat(answer.type()).isEqualTo("application/problem+json");
        assertThat(answer.body()).contains("\"status\":" + status).doesNotContain("Exception");
    }

    private TestNode node(String... settings) {
        return DATABASE.node("messaging", data, settings);
    }

    private static void fill(TestNode node, int count, int seed) {
        Answer answer = node.post("/messaging/fill?count=" + count + "&bytes=100&seed=" + seed);
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.body()).contains("\"count\":" + count);
    }

    private static void consumers(TestNode node, int count) {
        assertThat(node.post("/messaging/consumers?count=" + count).status()).isEqualTo(200);
    }

    private static void awaitEmpty(TestNode node) {
        QueueDatabase.await("an empty queue", () -> state(node, "depth") == 0);
    }

    private static long rows() {
        return DATABASE.number("select count(*) from messaging_row");
    }

    private static long state(TestNode node, String name) {
        return Long.parseLong(node.get("/messaging/state").field(name));
    }
}
