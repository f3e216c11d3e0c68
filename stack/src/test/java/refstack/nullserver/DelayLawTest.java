package refstack.nullserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The delays follow the law, and every one can be computed from its number. */
class DelayLawTest {

    @Test
    void drawsAreThoseOfSplitMix64() {
        // The first outputs of the published SplitMix64 with seed 0
        // are e220a8397b1dcdaf, 6e789e6aa1b965f4, 06c45d188009454f.
        Draws draws = new Draws(0);
        assertThat(draws.draw(0)).isEqualTo(((0xe220a8397b1dcdafL >>> 11) + 0.5) * 0x1p-53);
        assertThat(draws.draw(1)).isEqualTo(((0x6e789e6aa1b965f4L >>> 11) + 0.5) * 0x1p-53);
        assertThat(draws.draw(2)).isEqualTo(((0x06c45d188009454fL >>> 11) + 0.5) * 0x1p-53);
    }

    @Test
    void normalQuantilesAreThoseOfTheTables() {
        // Wichura 1988, table 1
        assertThat(Normal.quantile(0.25)).isCloseTo(-0.6744897501960817, within(1e-15));
        assertThat(Normal.quantile(0.001)).isCloseTo(-3.090232306167814, within(1e-14));
        assertThat(Normal.quantile(1e-20)).isCloseTo(-9.262340089798408, within(1e-13));
        assertThat(Normal.quantile(0.5)).isZero();
        assertThat(Normal.quantile(0.975)).isCloseTo(1.959963984540054, within(1e-14));
    }

    @Test
    void constantIsConstant() {
        assertThat(delays("constant:2000", 5)).containsOnly(2_000_000L);
    }

    @Test
    void lognormalHasItsMedianAndSpread() {
        long[] delays = delays("lognormal:1000,0.5", 100_000);
        Arrays.sort(delays);
        assertThat((double) delays[50_000]).isCloseTo(1e6, within(1e4));
        assertThat((double) delays[97_725]).isCloseTo(1e6 * Math.exp(1), within(5e4));
    }

    @Test
    void twoPointHasItsShare() {
        long slow = LongStream.of(delays("two-point:100,9000,0.1", 100_000))
                .filter(delay -> delay == 9_000_000L).count();
        assertThat(slow).isBetween(9_600L, 10_400L);
    }

    @Test
    void sameNumberHasTheSameDelay() {
        assertThat(delays("lognormal:700,1", 100)).isEqualTo(delays("lognormal:700,1", 100));
        assertThat(DelayLaw.parse("lognormal:700,1", 2).delayNs(0))
                .isNotEqualTo(DelayLaw.parse("lognormal:700,1", 1).delayNs(0));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "constant", "constant:", "constant:-1", "constant:1,2",
        "lognormal:5", "lognormal:NaN,1", "two-point:1,2,1.5", "gamma:1", "constant:1e300"})
    void refusesWhatIsNoLaw(String text) {
        assertThatThrownBy(() -> DelayLaw.parse(text, 1))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("constant:US");
    }

    private static long[] delays(String law, int count) {
        DelayLaw parsed = DelayLaw.parse(law, 1);
        return LongStream.range(0, count).map(parsed::delayNs).toArray();
    }
}
