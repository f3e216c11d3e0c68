package refstack.rest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Dummy elements have exactly the size asked for. */
class FillerTest {

    private record Small(int n) {
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 17, 18, 39, 40, 79, 80, 81, 1000, 217_999})
    void fillsToTheByte(int bytes) {
        int plain = PlainXml.element("a", new Small(1), Filler.NONE).length;
        assertThat(PlainXml.element("a", new Small(1), new Filler(bytes)))
                .hasSize(plain + bytes);
    }

    @Test
    void whatCannotBeFilledIsAnErrorAndNotSilence() {
        assertThatThrownBy(() -> new Filler(16)).hasMessageContaining("16");
        assertThatThrownBy(() -> new Filler(-5)).hasMessageContaining("larger");
    }
}
