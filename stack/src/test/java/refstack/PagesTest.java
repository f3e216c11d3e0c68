package refstack;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import refstack.TestNode.Answer;
import refstack.xml.SampleOrders;

/** Users with sessions, their pages, and documents in the background. */
class PagesTest {


    @AutoClose
    private static TestNode node;

    @BeforeAll
    static void start() {
        node = TestNode.withDatabase("--refstack.parts=pages,xml", "--refstack.node.name=p-1",
                "--refstack.pages.chart=1000", "--refstack.pages.rows=7");
    }

    /** Logs in and returns the session's cookie as a header. */
    private static String[] login(TestNode where, String user) {
        Answer answer = where.post("/pages/login?user=" + user);
        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        assertThat(answer.header("Set-Cookie")).contains("HttpOnly");
        return new String[] {"Cookie", answer.header("Set-Cookie").split(";")[0]};
    }

    @Test
    void aPageHasItsPartsAndAPartItsThreeAnswers() {
        String[] cookie = login(node, "ann");
        for (int page = 1; page <= 10; page++) {
            int parts = page % 2 == 1 ? 5 : 4;
            assertThat(node.get("/pages/" + page, cookie).body())
                    .contains("\"parts\":" + parts, "\"user\":\"ann\"", "\"page\":" + page);
            for (int part = 1; part <= parts; part++) {
                String path = "/pages/" + page + "/parts/" + part;
                Answer query = node.get(path + "/query", cookie);
                assertThat(query.status()).as(query.body()).isEqualTo(200);
                assertThat(query.body()).contains("\"page\":" + page + ",\"part\":" + part
                        + ",\"user\":\"ann\"");
                int rows = Integer.parseInt(
                        query.body().replaceAll("(?s).*\"count\":(\\d+).*", "$1"));
                assertThat(rows).isBetween(1, 7);
                Answer display = node.get(path + "/display", cookie);
                assertThat(display.type()).startsWith("text/html");
                assertThat(display.body())
                        .contains("id=\"page-" + page + "-part-" + part + "\" data-user=\"ann\"");
                assertThat(display.body().split("<tr>", -1)).hasSize(rows + 2);
                byte[] chart = node.get(path + "/data", cookie).response().body();
                assertThat(chart).hasSize(1000)
                        .isEqualTo(node.get(path + "/data", cookie).response().body());
                ByteBuffer head = ByteBuffer.wrap(chart);
                assertThat(new int[] {head.getInt(), head.getInt(), head.getInt(), head.getInt(),
                    head.getInt()}).containsExactly(0x52434854, page, part, rows,
                            "ann".hashCode());
            }
            assertThat(node.get("/pages/" + page + "/parts/" + (parts + 1) + "/query", cookie)
                    .status()).isEqualTo(404);
        }
        assertThat(node.get("/pages/11", cookie).status()).isEqualTo(404);
        assertThat(node.get("/pages/0/parts/1/query", cookie).status()).isEqualTo(404);
        assertThat(node.get("/pages/1/parts/0/query", cookie).status()).isEqualTo(404);
    }

    @Test
    void sessionsDoNotSeeEachOther() {
        String[] ann = login(node, "ann");
        String[] bob = login(node, "bob");
        assertThat(ann).isNotEqualTo(bob);
        node.get("/pages/1/parts/1/query", ann);
        assertThat(node.get("/pages/1/parts/1/display", bob).status()).isEqualTo(409);
        node.get("/pages/1/parts/1/query", bob);
        assertThat(node.get("/pages/1/parts/1/display", bob).body()).contains("\"bob\"");
        assertThat(node.get("/pages/1/parts/1/display", ann).body()).contains("\"ann\"");
        node.post("/pages/logout", ann);
        assertThat(node.get("/pages/1/parts/1/display", ann).status()).isEqualTo(401);
        assertThat(node.get("/pages/1/parts/1/display", bob).status()).isEqualTo(200);
    }

    @Test
    void aSessionKeepsThePageThatIsSeenAlone() {
        String[] cookie = login(node, "cid");
        node.get("/pages/1/parts/1/query", cookie);
        node.get("/pages/2/parts/1/query", cookie);
        assertThat(node.get("/pages/1/parts/1/data", cookie).status()).isEqualTo(409);
        assertThat(node.get("/pages/2/parts/1/data", cookie).status()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/pages/1", "/pages/1/parts/1/query", "/pages/1/parts/1/display",
        "/pages/1/parts/1/data", "/pages/99/parts/1/query"})
    void withoutSessionThereIs401(String path) {
        for (String[] headers : new String[][] {{}, {"Cookie", "JSESSIONID=0123456789ABCDEF"}}) {
            Answer answer = node.get(path, headers);
            assertThat(answer.status()).isEqualTo(401);
            assertThat(answer.body()).contains("\"status\":401", "/pages/login");
            assertThat(answer.header("Set-Cookie")).isNull();
        }
    }

    @Test
    void idleSessionsEndAndAreCounted() throws InterruptedException {
        try (TestNode hasty = TestNode.withDatabase("--refstack.parts=pages",
                "--refstack.pages.session-timeout=1s", "--refstack.pages.max-sessions=2")) {
            String[] ann = login(hasty, "ann");
            String[] bob = login(hasty, "bob");
            Answer full = hasty.post("/pages/login?user=cid");
            assertThat(full.status()).isEqualTo(503);
            assertThat(full.header("Retry-After")).isEqualTo("1");
            assertThat(hasty.metrics()).contains("refstack_pages_sessions{state=\"active\"} 2.0",
                    "refstack_pages_logins_total{outcome=\"full\"} 1.0");
            assertThat(hasty.post("/pages/logout", bob).body()).contains("bob");
            assertThat(hasty.post("/pages/logout", bob).status()).isEqualTo(401);
            int status = 200;
            for (int i = 0; i < 20 && status == 200; i++) {
                Thread.sleep(1200);
                status = hasty.get("/pages/1", ann).status();
            }
            assertThat(status).isEqualTo(401);
            assertThat(hasty.metrics()).contains("refstack_pages_sessions{state=\"active\"} 0.0",
                    "refstack_pages_logins_total{outcome=\"accepted\"} 2.0",
                    "refstack_pages_sessions_ended_total{reason=\"logout\"} 1.0",
                    "refstack_pages_sessions_ended_total{reason=\"timeout\"} 1.0");
            assertThat(hasty.post("/pages/documents?id=1").status()).isEqualTo(404);
        }
    }

    @Test
    void aLoginTwiceIsOneSession() {
        String[] first = login(node, "dee");
        Answer answer = node.post("/pages/login?user=eve", first);
        assertThat(answer.header("Set-Cookie")).isNotNull().doesNotContain(first[1]);
        assertThat(node.get("/pages/1", first).status()).isEqualTo(401);
    }

    @Test
    void namesAreChecked() {
        for (String name : new String[] {"", "a%20b", "%3Cscript%3E", "x".repeat(33)}) {
            assertThat(node.post("/pages/login?user=" + name).status()).isEqualTo(400);
        }
        assertThat(node.post("/pages/login").status()).isEqualTo(400);
    }

    @Test
    void documentsInTheBackgroundAreTransformedAndStored() {
        SampleOrders sample = SampleOrders.of(40, 9);
        Answer answer = node.post("/pages/documents?id=background-1", sample.bytes());
        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        assertThat(answer.body()).contains("\"id\":\"background-1\"", "\"rows\":" + sample.rows(),
                "\"total\":" + sample.total(), "\"stored\":true");
        assertThat(node.post("/pages/documents?id=background-1", sample.bytes()).body())
                .contains("\"stored\":false");
        assertThat(node.post("/pages/documents?id=2").status()).isEqualTo(400);
    }
}
