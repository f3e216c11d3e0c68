package refstack.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The cache asks once for what exists, and again for what failed or was not there. */
class CachingBackendTest {

    private static final FlightKey KNOWN = key("0017");
    private static final FlightKey UNKNOWN = key("0018");
    private static final FlightKey FAILING = key("0019");

    private final List<Object> calls = new ArrayList<>();
    private final FlightBackend cache = new BackendProperties("", "", true)
            .decorate(new Origin());

    @Test
    void keepsDetailsAndTheList() {
        assertThat(cache.detail(KNOWN)).isPresent().isEqualTo(cache.detail(KNOWN));
        assertThat(cache.list()).isSameAs(cache.list());
        assertThat(calls).containsExactly(KNOWN, "list");
    }

    @Test
    void keepsNeitherMissesNorFailures() {
        assertThat(cache.detail(UNKNOWN)).isEmpty();
        assertThat(cache.detail(UNKNOWN)).isEmpty();
        assertThatThrownBy(() -> cache.detail(FAILING));
        assertThatThrownBy(() -> cache.detail(FAILING));
        assertThat(calls).containsExactly(UNKNOWN, UNKNOWN, FAILING, FAILING);
    }

    @Test
    void isNotThereUnlessConfigured() {
        FlightBackend origin = new Origin();
        assertThat(new BackendProperties("", "", false).decorate(origin)).isSameAs(origin);
    }

    private static FlightKey key(String connid) {
        return new FlightKey("AA", connid, LocalDate.of(2011, 6, 1));
    }

    private final class Origin implements FlightBackend {

        @Override
        public List<FlightSummary> list() {
            calls.add("list");
            return new ArrayList<>();
        }

        @Override
        public Optional<Flight> detail(FlightKey key) {
            calls.add(key);
            if (key == FAILING) {
                throw new BackendTimeoutException("late", null);
            }
            return key == KNOWN ? Optional.of(flight()) : Optional.empty();
        }

        private Flight flight() {
            return new Flight("AA", "0017", KNOWN.fldate(), null, null, null, null, null, null,
                    null, null, null, null, null, null, null, null, 0, 0, null, null, null, null,
                    null, null, null, null, 0, 0, 0, 0, 0, 0, null, null);
        }
    }
}
