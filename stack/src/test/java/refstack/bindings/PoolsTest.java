package refstack.bindings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import refstack.core.BackendTimeoutException;
import refstack.transport.RpcEndpoint;

/** Pools that are full turn calls away; calls that wait too long are given up. */
class PoolsTest {

    private static final Payload PAYLOAD = new Payload("1", new byte[] {1, 2, 3});

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final Receiver receiver = new Receiver("n", new WorkDatabase(null), registry);
    private final WorkPool pool = new WorkPool("p", 1, 1, registry);
    private final CountDownLatch release = new CountDownLatch(1);

    @AfterEach
    void close() {
        release.countDown();
        pool.close();
    }

    private void block() {
        try {
            release.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private double rejected() {
        return registry.get("refstack.bindings.pool.rejected").counter().count();
    }

    @Test
    void aFullPoolTurnsAwayAndServesAgainLater() throws InterruptedException {
        CountDownLatch done = new CountDownLatch(2);
        QueueBinding binding = new QueueBinding(receiver, pool, Duration.ofSeconds(10));
        CountDownLatch begun = new CountDownLatch(1);
        for (int i = 0; i < 2; i++) {
            pool.execute(() -> {
                begun.countDown();
                block();
                done.countDown();
            });
        }
        begun.await();
        assertThat(registry.get("refstack.bindings.pool.queued").gauge().value()).isEqualTo(1);
        assertThatThrownBy(() -> binding.call(PAYLOAD)).isInstanceOf(PoolFullException.class)
                .hasMessageContaining("p");
        assertThat(rejected()).isEqualTo(1);
        release.countDown();
        done.await();
        assertThat(binding.call(PAYLOAD).thread()).isEqualTo("p-1");
    }

    @Test
    void aCallThatIsNotServedInTimeIsNeverServed() throws InterruptedException {
        QueueBinding binding = new QueueBinding(receiver, pool, Duration.ofMillis(10));
        pool.execute(this::block);
        assertThatThrownBy(() -> binding.call(PAYLOAD)).isInstanceOf(BackendTimeoutException.class);
        CountDownLatch done = new CountDownLatch(1);
        release.countDown();
        while (true) {
            try {
                pool.execute(done::countDown);
                break;
            } catch (PoolFullException e) {
                Thread.sleep(1);
            }
        }
        done.await();
        assertThat(registry.find("refstack.bindings.received").counter()).isNull();
    }

    @Test
    void aFullPoolOfTheRemoteReceiverIsToldAsThat() throws InterruptedException {
        try (RpcEndpoint server = new RpcReceiver(receiver, pool).at("127.0.0.1", 0, 1000);
                RpcBinding binding = new RpcBinding(new ReceiverAddress(() -> URI.create("x:/"),
                        () -> "127.0.0.1:" + server.port()), Duration.ofSeconds(10))) {
            server.start();
            assertThat(binding.call(PAYLOAD).pool()).isEqualTo("p");
            CountDownLatch begun = new CountDownLatch(1);
            pool.execute(() -> {
                begun.countDown();
                block();
            });
            begun.await();
            pool.execute(this::block);
            assertThatThrownBy(() -> binding.call(PAYLOAD)).isInstanceOf(PoolFullException.class);
            assertThat(rejected()).isEqualTo(1);
        }
    }

    @Test
    void copiesAreEqualAndNotTheSame() {
        Payload copy = CopyBinding.copy(PAYLOAD);
        assertThat(copy.body()).isEqualTo(PAYLOAD.body()).isNotSameAs(PAYLOAD.body());
        assertThat(copy.id()).isEqualTo("1");
    }

    @Test
    void poolsAreNamedByTheirThreads() {
        assertThat(Receiver.poolOf("http-nio-127.0.0.1-auto-3-exec-12")).isEqualTo("web");
        assertThat(Receiver.poolOf("bindings-jms-7")).isEqualTo("bindings-jms");
        assertThat(Receiver.poolOf("main")).isEqualTo("main");
    }

    @Test
    void anEmptyPayloadHasAChecksumToo() {
        assertThat(Receiver.checksum(new byte[0])).isZero();
        assertThat(Receiver.checksum("123456789".getBytes())).isEqualTo(0xE3069283L);
    }
}
