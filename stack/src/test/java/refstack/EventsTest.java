package refstack;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Locale;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import refstack.TestNode.Answer;

/** Events over a broker in the node, into a real database. */
class EventsTest {

    private static final QueueDatabase DATABASE = new QueueDatabase("events");

    @TempDir
    private Path data;

    @BeforeEach
    void empty() {
        DATABASE.execute("truncate event");
    }

    @Test
    void anEventIsAcceptedAndStoredWithAllItsFields() {
        try (TestNode node = node()) {
            Answer answer = post(node, event("a1-1", "a1", 1, "12.50"));
            assertThat(answer.status()).isEqualTo(202);
            assertThat(answer.body()).contains("\"id\":\"a1-1\"");
            awaitRows(1);
            assertThat(DATABASE.number("select count(*) from event where id = 'a1-1' and "
                    + "agent = 'a1' and sequence = 1 and tag = 'line1.pressure' and value = 12.5 "
                    + "and event_time = '2026-01-01T00:00:01Z'")).isEqualTo(1);
        }
    }

    @Test
    void theKeyMayComeBesideTheEventAndARepetitionIsHarmless() {
        try (TestNode node = node()) {
            String anonymous = event("x", "a2", 1, "1").replace(" id=\"x\"", "");
            for (int i = 0; i < 4; i++) {
                assertThat(node.post("/events", bytes(anonymous), "Idempotency-Key", "a2-1")
                        .status()).isEqualTo(202);
            }
            assertThat(post(node, event("a2-1", "a2", 1, "2")).status()).isEqualTo(202);
            assertThat(post(node, anonymous).status()).isEqualTo(400);
            assertThat(node.post("/events", bytes(event("a2-2", "a2", 2, "1")),
                    "Idempotency-Key", "a2-1").status()).isEqualTo(400);
            awaitRows(1);
            QueueDatabase.await("four duplicates", () -> node.management("/actuator/prometheus")
                    .body().contains("refstack_events_events_total{outcome=\"duplicate\"} 4.0"));
            assertThat(rows()).isEqualTo(1);
            assertThat(DATABASE.number("select value::int from event")).isEqualTo(1);
        }
    }

    @Test
    void whatIsAcceptedSurvivesTheNodeAndARefusingDatabase() {
        try (TestNode node = node("--refstack.events.workers=0")) {
            for (int i = 0; i < 50; i++) {
                assertThat(post(node, event("s-" + i, "s", i, "-0.5")).status()).isEqualTo(202);
            }
            assertThat(rows()).isZero();
        }
        DATABASE.execute("alter table event rename to hidden");
        try (TestNode node = node("--refstack.broker.embedded.redelivery-delay-ms=50")) {
            QueueDatabase.await("a failure", () -> !node.metrics()
                    .contains("refstack_events_events_total{outcome=\"failed\"} 0.0"));
            assertThat(post(node, event("s-50", "s", 50, "0")).status()).isEqualTo(202);
            DATABASE.execute("alter table hidden rename to event");
            awaitRows(51);
            assertThat(node.metrics()).contains(
                    "refstack_events_events_total{outcome=\"accepted\"} 1.0",
                    "refstack_events_events_total{outcome=\"stored\"} 51.0",
                    "refstack_events_workers{state=\"all\"} 4.0");
        }
    }

    @Test
    void hostileBodiesAreRefusedAndTheServiceGoesOn() {
        String good = event("h-1", "h", 1, "1");
        String laughs = "<!DOCTYPE event [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;&a;\">]>"
                + good.replace("line1.pressure", "&b;");
        String file = "<!DOCTYPE event [<!ENTITY f SYSTEM \"file:///etc/passwd\">]>"
                + good.replace("line1.pressure", "&f;");
        try (TestNode node = node()) {
            for (String body : new String[] {"", "no xml", good.substring(0, 60), laughs, file,
                good.replace("<tag>", "<tag/><tag>"), good.replace("</event>", "<x/></event>"),
                good.replace("line1.pressure", "&b;"), good.replace("<event ", "<event x='1' "),
                good.replace("sequence=\"1\"", "sequence=\"one\""),
                good.replace("<value>1<", "<value>1e999999999<"),
                good.replace("<value>1<", "<value>" + "9".repeat(400) + "<"),
                good.replace("<value>1</value>", ""), good.replace("id=\"h-1\"", "id=\"' or 1\""),
                good.replace("2026-01-01T", "+999999999-01-01T"),
                good.replace("2026-01-01T", "yesterday"), "<html></html>",
                "<a>".repeat(3000)}) {
                Answer answer = post(node, body);
                assertThat(answer.status()).as(body).isEqualTo(400);
                assertThat(answer.body()).contains("\"status\":400", "\"detail\":")
                        .doesNotContain("Exception", "refstack.", "passwd");
            }
            Answer large = post(node, good + " ".repeat(17_000));
            assertThat(large.status()).isEqualTo(413);
            assertThat(node.get("/events").status()).isBetween(404, 405);
            assertThat(post(node, good).status()).isEqualTo(202);
            awaitRows(1);
            assertThat(node.metrics()).contains(
                    "refstack_events_refused_total{reason=\"malformed\"} 18.0",
                    "refstack_events_refused_total{reason=\"oversized\"} 1.0");
        }
    }

    @Test
    void aFullQueueIsToldToComeBackLater() {
        try (TestNode node = node("--refstack.events.workers=0",
                "--refstack.broker.embedded.queue-max-bytes=5000")) {
            Answer answer = null;
            for (int i = 0; i < 50 && (answer == null || answer.status() == 202); i++) {
                answer = post(node, event("f-" + i, "f", i, "1"));
            }
            assertThat(answer.status()).isEqualTo(503);
            assertThat(answer.header("Retry-After")).isEqualTo("1");
            assertThat(node.metrics())
                    .contains("refstack_events_refused_total{reason=\"full\"} 1.0");
        }
    }

    private TestNode node(String... settings) {
        return DATABASE.node("events", data, settings);
    }

    private static String event(String id, String agent, int sequence, String value) {
        return String.format(Locale.ROOT, "<event id=\"%s\" agent=\"%s\" sequence=\"%d\" "
                + "time=\"2026-01-01T00:00:01Z\"><tag>line1.pressure</tag>"
                + "<value>%s</value></event>", id, agent, sequence, value);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static Answer post(TestNode node, String body) {
        return node.post("/events", bytes(body));
    }

    private static void awaitRows(int count) {
        QueueDatabase.await(count + " rows", () -> rows() == count);
    }

    private static long rows() {
        return DATABASE.number("select count(*) from event");
    }
}
