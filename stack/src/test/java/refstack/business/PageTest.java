package refstack.business;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.http.HttpStatus;
import refstack.answers.Refusal;

/** What pages are made of. */
class PageTest {

    private static final Desk DESK = Desk.of(7, "clerk7", 3).nextStep();

    private static String text(Page page) {
        return new String(page.answer().getBody(), StandardCharsets.UTF_8);
    }

    @Test
    void valuesStandAsProgramsExpectThem() {
        assertThat(text(Page.of(BusinessTransaction.ITEM, DESK, "n-1").output("item", 5)
                .money("price", 1205)))
                .contains("<output id=\"page\">item</output>", "<output id=\"user\">7</output>",
                        "<output id=\"step\">1</output>", "<output id=\"node\">n-1</output>",
                        "<output id=\"item\">5</output>", "<output id=\"price\">12.05</output>");
    }

    @Test
    void textOfDataIsNoMarkup() {
        String hostile = "<script>alert('\"&')</script>";
        String page = text(Page.of(BusinessTransaction.ITEM, DESK, hostile).text("name", hostile)
                .output("value", hostile)
                .table("item", List.of("Item", "Name"), List.of(List.of(1, hostile))));
        String problem = new String(Page.problem(HttpStatus.NOT_FOUND, "unknown", hostile)
                .getBody(), StandardCharsets.UTF_8);
        assertThat(page).doesNotContain("<script").contains("<tr data-item=\"1\">");
        assertThat(page.split("&lt;script&gt;", -1)).hasSize(5);
        assertThat(problem).doesNotContain("<script").contains("&lt;script&gt;");
    }

    @ParameterizedTest
    @CsvSource({"0,0.00", "5,0.05", "-5,-0.05", "100,1.00", "-1234,-12.34", "123456789,1234567.89"})
    void amountsHaveTwoDecimals(long cents, String text) {
        assertThat(Money.text(cents)).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({"Brass Bo,Brass Bp", "Az,A{", "A9,A:"})
    void aPrefixIsARangeOfNames(String text, String after) {
        assertThat(Prefix.of(text)).isEqualTo(new Prefix(text, after));
        assertThat((text + "zzz").compareTo(after)).isNegative();
    }

    @ParameterizedTest
    @CsvSource({"A", "A%", "A_", "'Ä b'", "A\\b"})
    void aPrefixIsPlain(String text) {
        assertThatThrownBy(() -> Prefix.of(text)).isInstanceOf(Refusal.class);
    }

    @Test
    void aDraftHasOneLineAnItem() {
        Draft draft = Draft.of(1).with(line(4, 2)).with(line(5, 1)).with(line(4, 3));
        assertThat(draft.lines()).containsExactly(line(4, 3), line(5, 1));
        assertThat(draft.total()).isEqualTo(400);
    }

    private static Draft.Line line(int item, int quantity) {
        return new Draft.Line(item, "name", 1, quantity, 100);
    }

    @Test
    void theLatestItemsAreRememberedOnceEach() {
        Desk desk = DESK;
        for (int item : new int[] {1, 2, 3, 1}) {
            desk = desk.with(new Desk.Recent(item, "name"));
        }
        assertThat(desk.recent()).extracting(Desk.Recent::item).containsExactly(1, 3, 2);
    }

    @Test
    void aWorkspaceIsTheUsersOwn() {
        assertThat(Workspace.of(1, 100).digest()).isEqualTo(Workspace.of(1, 100).digest())
                .startsWith("100-").hasSize("100-".length() + 8)
                .isNotEqualTo(Workspace.of(2, 100).digest());
        assertThat(Workspace.of(1, 0).digest()).isEqualTo("0-00000000");
    }
}
