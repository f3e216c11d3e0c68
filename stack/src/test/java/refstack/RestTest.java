package refstack;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;
import refstack.TestNode.Answer;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Flights over plain REST. */
class RestTest {

    private static final String[] JSON = {"Accept", "application/json"};
    private static final String[] XML = {"Accept", "application/xml"};
    private static final JsonMapper MAPPER = new JsonMapper();

    private final TestNode app = TestNode.app();

    @Test
    void detailIsJsonOfAboutTheSizeInTheReport() {
        Answer answer = app.get(Paths.REST_DETAIL, JSON);
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.type()).isEqualTo("application/json");
        JsonNode flight = MAPPER.readTree(answer.body());
        assertThat(flight.get("airline").asString()).isEqualTo("American Airlines");
        assertThat(flight.get("departureTime").asString()).isEqualTo("11:00:00");
        assertThat(flight.get("distance").asInt()).isEqualTo(2572);
        assertThat(answer.bytes()).isBetween(760, 930);
    }

    @Test
    void jsonIsTheDefault() {
        assertThat(app.get(Paths.REST_DETAIL).type()).isEqualTo("application/json");
        assertThat(app.get(Paths.REST_LIST, "Accept", "*/*").type())
                .isEqualTo("application/json");
    }

    @Test
    void listHas400FlightsAndAboutTheSizeInTheReport() {
        Answer answer = app.get(Paths.REST_LIST, JSON);
        JsonNode flights = MAPPER.readTree(answer.body());
        assertThat(flights.size()).isEqualTo(400);
        assertThat(flights.get(0).get("connid").asString()).isEqualTo("0017");
        assertThat(answer.bytes()).isBetween(106_000, 117_000);
    }

    @Test
    void everyAnswerSaysItsLength() {
        assertThat(app.get(Paths.REST_LIST, JSON).header("Content-Length")).isNotNull();
        assertThat(app.get(Paths.REST_LIST, XML).header("Content-Length")).isNotNull();
        assertThat(app.get(Paths.REST_DETAIL, JSON).header("Transfer-Encoding")).isNull();
        assertThat(app.get("/rest/nothing").header("Content-Length")).isNotNull();
    }

    @Test
    void xmlHasTheSameFields() {
        Answer answer = app.get(Paths.REST_DETAIL, XML);
        assertThat(answer.type()).isEqualTo("application/xml");
        assertThat(answer.body()).startsWith("<?xml").doesNotContain("<filler>")
                .contains("<flight><carrid>AA</carrid><connid>0017</connid>",
                        "<departureTime>11:00:00</departureTime>");
        assertThat(app.get(Paths.REST_LIST, XML).body().split("<flight>")).hasSize(401);
    }

    @Test
    void bothFlightsOfTheReportExist() {
        assertThat(app.get("/rest/flights/AA/0017/2012-01-11").status()).isEqualTo(200);
    }

    @Test
    void paddedDetailHasExactlyAsManyBytesAsAtom() {
        for (String[] key : new String[][] {{"AA", "0017", "2011-06-01"},
            {"UA", "3516", "2011-08-24"}, {"QF", "0005", "2011-06-15"}}) {
            Answer padded = app.get("/rest/flights/" + String.join("/", key) + "?pad=atom", XML);
            Answer atom = app.get(Paths.STANDARD + "FlightCollection(carrid='" + key[0]
                    + "',connid='" + key[1] + "',fldate=datetime'" + key[2] + "T00:00:00')");
            assertThat(padded.body()).contains("<filler>xx");
            assertThat(padded.bytes()).isEqualTo(atom.bytes());
        }
    }

    @Test
    void paddedListHasExactlyAsManyBytesAsAtom() {
        Answer padded = app.get(Paths.REST_LIST + "?pad=atom", XML);
        assertThat(padded.bytes())
                .isEqualTo(app.get(Paths.STANDARD + Paths.ODATA_LIST).bytes());
    }

    @Test
    void paddingFollowsTheNameByWhichTheServerIsAddressed() {
        String other = "http://localhost:" + app.port();
        assertThat(app.send("GET", other + Paths.REST_DETAIL + "?pad=atom", XML).bytes())
                .isEqualTo(app.send("GET", other + Paths.STANDARD + Paths.KEY).bytes());
    }

    @ParameterizedTest
    @CsvSource({
        "404, /rest/flights/AA/0017/2011-06-02, There is no such flight.",
        "400, /rest/flights/AA/17/2011-06-01, connid must be 4 digits",
        "400, /rest/flights/aa/0017/2011-06-01, carrid must be 2 or 3 capital letters or digits",
        "400, /rest/flights/AA/0017/20110601, fldate must be a date such as 2011-06-01",
        "400, /rest/flights?pad=json, pad can only be 'atom'.",
        "404, /rest/nothing, Nothing is served at this path."})
    void failuresComeInTheTypeAskedFor(int status, String path, String detail) {
        Answer xml = app.get(path, XML);
        assertThat(xml.status()).isEqualTo(status);
        assertThat(xml.type()).isEqualTo("application/xml");
        assertThat(xml.body()).contains("<status>" + status + "</status>",
                "<detail>" + detail + "</detail>");
        if (!path.contains("pad=")) {
            Answer json = app.get(path, JSON);
            assertThat(json.status()).isEqualTo(status);
            assertThat(MAPPER.readTree(json.body()).get("detail").asString()).isEqualTo(detail);
        }
    }

    @Test
    void jsonCannotBePadded() {
        Answer answer = app.get(Paths.REST_DETAIL + "?pad=atom", JSON);
        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.body()).contains("Only XML can be padded");
    }

    @Test
    void otherTypesAndMethodsAreRefused() {
        Answer html = app.get(Paths.REST_LIST, "Accept", "text/html");
        assertThat(html.status()).isEqualTo(406);
        assertThat(html.type()).isEqualTo("application/json");
        Answer post = app.send("POST", app.root() + Paths.REST_LIST);
        assertThat(post.status()).isEqualTo(405);
        assertThat(post.header("Allow")).contains("GET");
    }

    @Test
    void unknownPathsAreAnsweredInJsonEvenToBrowsers() {
        Answer answer = app.get("/nothing", "Accept", "text/html");
        assertThat(answer.status()).isEqualTo(404);
        assertThat(answer.type()).isEqualTo("application/problem+json");
    }

    /** Else clients that ask for such paths could fill the log. */
    @Test
    void whatIsNotServedIsNotLogged() {
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        Logger web = (Logger) LoggerFactory.getLogger("org.springframework.web");
        logged.start();
        web.addAppender(logged);
        try {
            assertThat(app.get("/nothing").status()).isEqualTo(404);
            assertThat(app.post("/nothing").status()).isEqualTo(404);
        } finally {
            web.detachAppender(logged);
        }
        assertThat(logged.list).isEmpty();
    }

    @Test
    void requestsThatTomcatRefusesShowNeitherHtmlNorTraces() {
        Answer answer = app.get("/rest/a%2Fb");
        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.body()).startsWith("{\"status\":400").doesNotContain("apache");
    }

    @Test
    void restAloneServesWhatNeedsNoAtom() {
        try (TestNode alone = TestNode.withDatabase("--refstack.parts=rest")) {
            assertThat(alone.get(Paths.REST_DETAIL, XML).body())
                    .isEqualTo(app.get(Paths.REST_DETAIL, XML).body());
            assertThat(alone.get(Paths.STANDARD).status()).isEqualTo(404);
            Answer padded = alone.get(Paths.REST_DETAIL + "?pad=atom", XML);
            assertThat(padded.status()).isEqualTo(400);
            assertThat(padded.body()).contains("odata");
        }
    }
}
