package refstack.xml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import javax.xml.crypto.OctetStreamData;
import javax.xml.crypto.dsig.CanonicalizationMethod;
import javax.xml.crypto.dsig.XMLSignatureFactory;
import javax.xml.crypto.dsig.spec.C14NMethodParameterSpec;
import javax.xml.transform.OutputKeys;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.stream.StreamResult;
import javax.xml.transform.stream.StreamSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import refstack.core.RefusedDocumentException;
import refstack.core.RefusedDocumentException.Reason;

/** The three ways give the same result and refuse the same documents. */
class TransformationTest {

    private static final SecureParsers PARSERS = new SecureParsers(32);
    private static final List<Transformation> WAYS = List.of(Stylesheet.saxon(PARSERS),
            Stylesheet.jdk(PARSERS), new ActionInterpreter(PARSERS));

    private static CanonicalResult run(Transformation way, byte[] document) {
        CanonicalResult result = new CanonicalResult();
        way.transform(document, result);
        return result;
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "1, 1", "7, 2", "400, 3"})
    void allWaysGiveTheSameCanonicalResult(int orders, long seed) {
        SampleOrders sample = SampleOrders.of(orders, seed);
        byte[] expected = run(WAYS.get(0), sample.bytes()).bytes();
        for (Transformation way : WAYS) {
            CanonicalResult result = run(way, sample.bytes());
            assertThat(result.bytes()).as(way.way()).isEqualTo(expected);
            assertThat(result.rows()).isEqualTo(sample.rows());
            assertThat(result.total()).isEqualByComparingTo(sample.total());
        }
    }

    @Test
    void oneOrderIsTransformedAsMeant() {
        String order = """
                <productionOrders plant="1000" day="20110601"><order number="7" status="released">
                <material>P</material><description>Pump</description><components><component
                position="10"><material>M</material><description>Nut</description>
                <storage>01</storage><quantity unit="PC">3</quantity>
                <price currency="EUR">0.35</price></component></components></order>
                </productionOrders>""";
        assertThat(new String(run(WAYS.get(2), utf8(order)).bytes(), StandardCharsets.UTF_8))
                .isEqualTo("<postings day=\"2011-06-01\" plant=\"1000\"><posting order=\"7\" "
                        + "position=\"10\"><movement>261</movement><product>P</product>"
                        + "<material>M</material><text>Nut for Pump</text>"
                        + "<storage plant=\"1000\">01</storage><quantity unit=\"PC\">3</quantity>"
                        + "<value currency=\"EUR\">1.05</value></posting></postings>");
    }

    @Test
    void theResultIsCanonicalByTheJdksOwnCanonicaliser() throws Exception {
        byte[] ours = run(WAYS.get(0), SampleOrders.of(5, 4).bytes()).bytes();
        StringWriter loose = new StringWriter();
        var identity = TransformerFactory.newDefaultInstance().newTransformer();
        identity.setOutputProperty(OutputKeys.ENCODING, "US-ASCII");
        identity.transform(new StreamSource(new ByteArrayInputStream(ours)),
                new StreamResult(loose));
        CanonicalizationMethod method = XMLSignatureFactory.getInstance("DOM")
                .newCanonicalizationMethod(CanonicalizationMethod.INCLUSIVE,
                        (C14NMethodParameterSpec) null);
        OctetStreamData data = (OctetStreamData) method.transform(
                new OctetStreamData(new ByteArrayInputStream(utf8(loose.toString()))), null);
        assertThat(data.getOctetStream().readAllBytes()).isEqualTo(ours);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "'' | MALFORMED",
        "<productionOrders> | MALFORMED",
        "<productionOrders>&nbsp;</productionOrders> | MALFORMED",
        "hello | MALFORMED",
        "<!DOCTYPE productionOrders><productionOrders/> | DOCTYPE",
        "<postings/> | CONTENT"})
    void whatIsNotAcceptedIsRefusedInEveryWayForTheSameReason(String document, Reason reason) {
        for (Transformation way : WAYS) {
            assertThatThrownBy(() -> run(way, utf8(document)).bytes()).as(way.way())
                    .isInstanceOfSatisfying(RefusedDocumentException.class,
                            e -> assertThat(e.reason()).isEqualTo(reason));
        }
    }

    @Test
    void aPriceThatIsNoNumberIsRefusedInEveryWay() {
        byte[] document = utf8(new String(SampleOrders.of(1, 1).bytes(), StandardCharsets.UTF_8)
                .replaceFirst("<price currency=\"EUR\">[^<]*", "<price currency=\"EUR\">dear"));
        for (Transformation way : WAYS) {
            assertThatThrownBy(() -> run(way, document)).as(way.way())
                    .isInstanceOfSatisfying(RefusedDocumentException.class,
                            e -> assertThat(e.reason()).isEqualTo(Reason.CONTENT));
        }
    }

    @Test
    void theDepthIsLimitedInEveryWay() {
        byte[] allowed = utf8("<productionOrders>" + "<a>".repeat(31) + "</a>".repeat(31)
                + "</productionOrders>");
        byte[] deep = utf8("<a>".repeat(33) + "</a>".repeat(33));
        for (Transformation way : WAYS) {
            assertThat(run(way, allowed).rows()).isZero();
            assertThatThrownBy(() -> run(way, deep)).as(way.way())
                    .isInstanceOfSatisfying(RefusedDocumentException.class,
                            e -> assertThat(e.reason()).isEqualTo(Reason.DEPTH));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a b", "concat(a", "a *", "substring(a, 1)", "f(a)", "a//b", "*"})
    void aLinkThatCannotBeReadIsNamed(String link) {
        assertThatThrownBy(() -> Link.parse(link)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("\"" + link + "\"");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "substring(@d, 3, 9) | cd", "substring(@d, 9, 1) | ''",
        "concat(@d, '-', b, ../a) | abcd-55",
        "format(b * b * 3, 1) | 75.0", "b = '5' | true", "b != @d | true", "/a/b | 5", ". | 5",
        "nothing | ''"})
    void linksGiveWhatTheySay(String link, String expected) {
        var tree = PARSERS.tree(utf8("<a d=\"abcd\"><b>5</b></a>"));
        assertThat(Link.parse(link).text(tree.getDocumentElement())).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(strings = {"[{\"action\": \"jump\"}]", "[{\"action\": \"repeat\"}]",
        "[{\"element\": \"a\"}]", "[{\"action\": \"assign\", \"target\": \"a\", \"link\": 1}]"})
    void aListOfActionsThatIsNoneIsRefused(String actions) {
        assertThatThrownBy(() -> ActionList.parse(actions))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
