package refstack;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import refstack.TestNode.Answer;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Flights over OData, in both modes. */
class ODataTest {

    private final TestNode app = TestNode.app();

    @ParameterizedTest
    @ValueSource(strings = {
        "", "$metadata", Paths.KEY, Paths.KEY + "?$format=json", Paths.KEY + "?$format=atom",
        Paths.KEY + "?$select=price,changedAt", Paths.ODATA_LIST,
        Paths.ODATA_LIST + "&$format=json", "FlightCollection?$top=3&$skip=2",
        Paths.KEY + "/otherDates?$top=2", "Nothing", "FlightCollection(carrid='AA')"})
    void bothModesGiveTheSameDocuments(String path) {
        Answer standard = app.get(Paths.STANDARD + path);
        Answer compatibility = app.get(Paths.COMPATIBILITY + path);
        assertThat(compatibility.status()).isEqualTo(standard.status());
        assertThat(compatibility.type()).isEqualTo(standard.type());
        assertThat(compatibility.body().replace(Paths.COMPATIBILITY, Paths.STANDARD))
                .isEqualTo(standard.body());
    }

    @Test
    void detailIsAnAtomEntryOfAboutTheSizeInTheReport() {
        Answer answer = app.get(Paths.STANDARD + Paths.KEY);
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.type()).startsWith("application/atom+xml;type=entry");
        assertThat(answer.body()).contains("<d:airline>American Airlines</d:airline>",
                "<d:fldate>2011-06-01T00:00:00</d:fldate>", "<d:distance>2572</d:distance>",
                "related/otherDates");
        assertThat(answer.bytes()).isBetween(2_200, 2_700);
        assertThat(answer.header("Content-Length")).isEqualTo("" + answer.bytes());
    }

    @Test
    void acceptHeaderChoosesJsonToo() {
        Answer answer = app.get(Paths.STANDARD + Paths.KEY, "Accept", "application/json");
        assertThat(answer.type()).isEqualTo("application/json");
        JsonNode flight = new JsonMapper().readTree(answer.body()).get("d");
        assertThat(flight.get("carrid").asString()).isEqualTo("AA");
        assertThat(flight.get("departureTime").asString()).isEqualTo("PT11H0M0S");
        assertThat(flight.get("seatsMax").asInt()).isPositive();
    }

    @Test
    void documentsAreTheSameAtAnyTime() {
        String first = app.get(Paths.STANDARD + Paths.ODATA_LIST).body();
        assertThat(app.get(Paths.STANDARD + Paths.ODATA_LIST).body()).isEqualTo(first);
        assertThat(first.split("<entry>")).hasSize(401);
    }

    /** Olingo's model objects are not made for threads; each mode must get along with that. */
    @ParameterizedTest
    @ValueSource(strings = {Paths.STANDARD, Paths.COMPATIBILITY})
    void documentsAreTheSameToManyClientsAtOnce(String service) {
        String expected = app.get(service + Paths.KEY).body();
        assertThat(IntStream.range(0, 400).parallel()
                .mapToObj(i -> app.get(service + Paths.KEY).body()).distinct())
                .containsExactly(expected);
    }

    @Test
    void encodedKeysAreUnderstood() {
        String encoded = Paths.KEY.replace("'", "%27").replace(":", "%3A");
        assertThat(app.get(Paths.STANDARD + encoded).body())
                .isEqualTo(app.get(Paths.STANDARD + Paths.KEY).body());
    }

    @Test
    void pagesAreCutOutOfTheList() {
        JsonNode page = new JsonMapper().readTree(app.get(Paths.STANDARD
                + "FlightCollection?$skip=399&$top=5&$select=carrid&$format=json").body());
        assertThat(page.get("d").get("results").size()).isEqualTo(1);
        assertThat(page.get("d").get("results").get(0).get("carrid").asString())
                .isEqualTo("UA");
    }

    @Test
    void metadataDescribesTheKeyAndTheTypes() {
        Answer answer = app.get(Paths.STANDARD + "$metadata");
        assertThat(answer.type()).startsWith("application/xml");
        assertThat(answer.body()).contains("<EntityType Name=\"Flight\">",
                "<PropertyRef Name=\"fldate\"/>", "Name=\"price\" Type=\"Edm.Decimal\"",
                "<EntitySet Name=\"FlightCollection\"");
    }

    @Test
    void serviceDocumentNamesTheCollection() {
        assertThat(app.get(Paths.STANDARD).body()).contains("href=\"FlightCollection\"");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "404 | FlightCollection(carrid='AA',connid='0017',fldate=datetime'2011-06-02T00:00:00')",
        "400 | FlightCollection(carrid='AA',connid='0017',date=datetime'2011-06-01T00:00:00')",
        "400 | FlightCollection(carrid='AA',connid='0017',fldate=datetime'2011-06')",
        "400 | FlightCollection(carrid='AA',connid='0017',fldate='2011-06-01')",
        "400 | FlightCollection(carrid='AA',connid='17',fldate=datetime'2011-06-01T00:00:00')",
        "404 | Nothing",
        "400 | FlightCollection?$top=-1",
        "501 | FlightCollection?$filter=carrid%20eq%20'AA'",
        "406 | FlightCollection?$format=text"})
    void failuresComeInODataFormat(int status, String path) {
        Answer xml = app.get(Paths.STANDARD + path);
        assertThat(xml.status()).isEqualTo(status);
        assertThat(xml.type()).startsWith("application/xml");
        assertThat(xml.body()).contains("<error xmlns=", "<message xml:lang=\"en\">")
                .doesNotContain("Exception");
        Answer json = app.get(Paths.STANDARD + path, "Accept", "application/json");
        assertThat(json.status()).isEqualTo(status);
        if (!path.contains("$format")) {
            assertThat(json.body()).startsWith("{\"error\":{");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"POST", "PUT", "DELETE", "PATCH"})
    void servicesCanOnlyBeRead(String method) {
        Answer answer = app.send(method, app.root() + Paths.STANDARD + "FlightCollection");
        assertThat(answer.status()).isEqualTo(405);
        assertThat(answer.header("Allow")).isEqualTo("GET");
        assertThat(answer.body()).contains("<error xmlns=");
    }
}
