package refstack;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import refstack.TestNode.Answer;
import refstack.xml.SampleOrders;

/** Documents over HTTP: transformed, stored once, refused with the right status. */
class XmlTest {

    private static final SampleOrders SAMPLE = SampleOrders.of(60, 5);
    private static final String PATH = "/xml/transform/xslt?id=";

    @AutoClose
    private static TestNode node;

    @BeforeAll
    static void start() {
        node = TestNode.withDatabase("--refstack.parts=xml", "--refstack.node.name=x-1",
                "--refstack.xml.max-body=200KB");
    }

    @ParameterizedTest
    @ValueSource(strings = {"xslt", "xslt-jdk", "actions"})
    void aDocumentBecomesOneRowHoweverOftenItIsSent(String way) throws SQLException {
        String path = "/xml/transform/" + way + "?id=once-" + way;
        Answer answer = node.post(path, SAMPLE.bytes(), "Content-Type", "application/xml");
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.body()).contains("\"id\":\"once-" + way + "\"",
                "\"rows\":" + SAMPLE.rows(), "\"total\":" + SAMPLE.total() + ",",
                "\"bytesIn\":" + SAMPLE.bytes().length, "\"stored\":true", "\"node\":\"x-1\"");
        Answer again = node.post(path, SAMPLE.bytes());
        assertThat(again.body()).isEqualTo(answer.body().replace("true", "false"));
        try (Connection connection = DriverManager.getConnection(TestDatabase.url());
                ResultSet row = connection.createStatement().executeQuery("select rows, total, way,"
                        + " bytes_in, length(sha256), count(*) over () from document "
                        + "where id = 'once-" + way + "'")) {
            row.next();
            assertThat(row.getInt(1)).isEqualTo(SAMPLE.rows());
            assertThat(row.getBigDecimal(2)).isEqualTo(SAMPLE.total());
            assertThat(row.getString(3)).isEqualTo(way);
            assertThat(row.getInt(4)).isEqualTo(SAMPLE.bytes().length);
            assertThat(row.getInt(5)).isEqualTo(64);
            assertThat(row.getInt(6)).isEqualTo(1);
        }
    }

    @Test
    void allWaysHaveTheSameDigest() {
        assertThat(digest("xslt")).isEqualTo(digest("xslt-jdk")).isEqualTo(digest("actions"));
    }

    private static String digest(String way) {
        return node.post("/xml/transform/" + way + "?id=d-" + way, SAMPLE.bytes()).body()
                .replaceAll(".*\"sha256\":\"([0-9a-f]{64})\".*", "$1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"xslt", "xslt-jdk", "actions"})
    void hostileDocumentsAreRefusedAndTheServiceGoesOn(String way) {
        String laughs = "<!DOCTYPE a [<!ENTITY a \"ha\"><!ENTITY b \"" + "&a;".repeat(20)
                + "\"><!ENTITY c \"" + "&b;".repeat(20) + "\">]><productionOrders>"
                + "&c;</productionOrders>";
        String outside = "<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/hostname\">]>"
                + "<productionOrders plant=\"1\">&x;</productionOrders>";
        assertRefused(way, laughs, 400, "document type");
        assertRefused(way, outside, 400, "document type");
        assertRefused(way, "<a>".repeat(5000), 400, "nested deeper");
        assertRefused(way, "<productionOrders><order", 400, "not well-formed");
        assertRefused(way, "", 400, "not well-formed");
        assertRefused(way, "\u0000\u0001", 400, "not well-formed");
        assertRefused(way, "<a>" + "x".repeat(210_000) + "</a>", 413, "204800 bytes");
        assertThat(node.post("/xml/transform/" + way + "?id=after-" + way, SAMPLE.bytes())
                .status()).isEqualTo(200);
    }

    private static void assertRefused(String way, String document, int status, String detail) {
        Answer answer = node.post("/xml/transform/" + way + "?id=h",
                document.getBytes(StandardCharsets.UTF_8));
        assertThat(answer.status()).as(detail).isEqualTo(status);
        assertThat(answer.type()).isEqualTo("application/problem+json");
        assertThat(answer.body()).contains("\"status\":" + status, detail)
                .doesNotContain("Exception", "\tat ");
    }

    @Test
    void unknownWaysAndIdsAreNamed() {
        assertThat(node.post("/xml/transform/magic?id=1", SAMPLE.bytes()).status()).isEqualTo(404);
        assertThat(node.post("/xml/transform/magic?id=1", SAMPLE.bytes()).body())
                .contains("xslt, xslt-jdk, actions");
        assertThat(node.post("/xml/transform/xslt", SAMPLE.bytes()).status()).isEqualTo(400);
        assertThat(node.post(PATH + "a%20b", SAMPLE.bytes()).status()).isEqualTo(400);
        assertThat(node.post(PATH + "x".repeat(65), SAMPLE.bytes()).status()).isEqualTo(400);
        assertThat(node.get(PATH + "1").status()).isEqualTo(405);
    }

    @Test
    void whatWasDoneShowsInTheMetrics() {
        node.post(PATH + "m", SAMPLE.bytes());
        node.post(PATH + "m", SAMPLE.bytes());
        node.post(PATH + "m", new byte[0]);
        String metrics = node.metrics();
        assertThat(metrics).contains("refstack_xml_duplicates_total{way=\"xslt\"}",
                "refstack_xml_transform_seconds_count{way=\"actions\"}",
                "refstack_xml_cpu_seconds_total{way=\"xslt-jdk\"}");
        assertThat(node.metric("refstack_xml_allocated_bytes_total{way=\"xslt\"}"))
                .isGreaterThan(2.0 * SAMPLE.bytes().length);
        assertThat(node.metric("refstack_xml_refused_total{reason=\"malformed\"}"))
                .isGreaterThanOrEqualTo(1);
    }

    @Test
    void aNodeWithoutThePartHasNothingOfIt() {
        assertThat(TestNode.app().post(PATH + "1", SAMPLE.bytes()).status()).isEqualTo(404);
        assertThat(TestNode.app().management("/actuator/prometheus").body())
                .doesNotContain("refstack_xml");
    }
}
