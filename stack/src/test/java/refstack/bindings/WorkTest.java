package refstack.bindings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import refstack.core.BackendUnavailableException;

/** What a receiver is asked to do, and in which order messages were done. */
class WorkTest {

    @Test
    void workIsReadAsItIsWritten() {
        assertThat(Work.of(null)).isEqualTo(Work.LEAST).isEqualTo(Work.of(""));
        assertThat(Work.LEAST.text()).isEmpty();
        assertThat(Work.of("rounds:20,pause:5,row")).isEqualTo(new Work(20, 5, true));
        assertThat(Work.of("row")).isEqualTo(new Work(1, 0, true));
        for (String text : new String[] {"rounds:1,pause:7", "rounds:9,pause:0,row"}) {
            assertThat(Work.of(text).text()).isEqualTo(text);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rounds:0", "rounds:100001", "rounds:9999999", "pause:60001", "rows",
        "row,", "rounds=1", "pause:-1", " row"})
    void anythingElseIsRefused(String text) {
        assertThatThrownBy(() -> Work.of(text)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("work must list");
    }

    @Test
    void withoutADatabaseOnlyRoundsCanBeDone() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        Receiver receiver = new Receiver("n", new WorkDatabase(null), registry);
        byte[] body = "123456789".getBytes();
        assertThat(receiver.canDo(Work.of("rounds:3"))).isTrue();
        assertThat(receiver.canDo(Work.of("row"))).isFalse();
        assertThat(receiver.receive("x", new Payload("1", body, new Work(3, 0, false))).checksum())
                .isEqualTo(0xE3069283L);
        assertThatThrownBy(() -> receiver.receiveOneWay("jms",
                new Payload("1", body, new Work(1, 1, false))))
                .isInstanceOf(BackendUnavailableException.class);
        assertThat(registry.get("refstack.bindings.one.way").tag("outcome", "failed")
                .tag("way", "jms").counter().count()).isEqualTo(1);
    }

    @Test
    void aMessageIsLateAfterALaterOneOfItsSender() {
        Order order = new Order(2);
        assertThat(order.isLate("a-1")).isFalse();
        assertThat(order.isLate("a-3")).isFalse();
        assertThat(order.isLate("b-2")).isFalse();
        assertThat(order.isLate("a-2")).isTrue();
        assertThat(order.isLate("a-3")).isFalse();
        assertThat(order.isLate("a")).isFalse();
        assertThat(order.isLate("a-1-1")).isFalse();
        assertThat(order.isLate("b-1")).as("b was forgotten, the third sender came").isFalse();
    }
}
