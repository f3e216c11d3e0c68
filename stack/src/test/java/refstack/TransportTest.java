package refstack;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.net.http.HttpTimeoutException;
import java.nio.file.Path;
import java.util.List;
import org.apache.hc.core5.http.ConnectionRequestTimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import refstack.TestNode.Answer;
import refstack.core.BackendTimeoutException;
import refstack.core.BackendUnavailableException;
import refstack.transport.CallFailure;

/** The same failure is told the same, whichever part called and whichever library failed. */
class TransportTest {

    static List<Exception> timeouts() {
        return List.of(new SocketTimeoutException(), new HttpTimeoutException("late"),
                new ConnectionRequestTimeoutException("none free"),
                Status.DEADLINE_EXCEEDED.asRuntimeException());
    }

    @ParameterizedTest
    @MethodSource("timeouts")
    void aTimeThatRanOutIsATimeoutHoweverDeepItLies(Exception cause) {
        for (Exception failure : List.of(cause, new RuntimeException(cause),
                new RuntimeException(new IOException(cause)))) {
            assertThat(CallFailure.of("The back end", failure))
                    .isInstanceOf(BackendTimeoutException.class)
                    .hasMessage("The back end did not answer in time.").hasCause(failure);
        }
    }

    @Test
    void otherFailuresAreToldApart() {
        assertThat(CallFailure.of("The receiver", new RuntimeException(new ConnectException())))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessage("The receiver cannot be reached.");
        assertThat(CallFailure.of("The receiver", new RuntimeException("a fault")))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessage("The receiver did not do what it was asked for.");
        assertThat(CallFailure.of("The receiver", Status.UNAUTHENTICATED.asRuntimeException()))
                .hasMessage("The receiver refused name and password.");
        assertThat(CallFailure.of("The receiver", Status.INVALID_ARGUMENT
                .withDescription("work must list").asRuntimeException()))
                .isInstanceOf(IllegalArgumentException.class).hasMessage("work must list");
    }

    /** Connections are taken, and that is all. */
    @Test
    void silenceIsLateInEveryWayOfBothParts() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                TestNode node = TestNode.withoutDatabase("--refstack.parts=connectors,bindings",
                        "--refstack.backend.url=http://127.0.0.1:" + silent.getLocalPort(),
                        "--refstack.backend.rpc=127.0.0.1:" + silent.getLocalPort(),
                        "--refstack.node.data=" + Path.of("target", "connector-test")
                                .toAbsolutePath(),
                        "--refstack.connector.call-timeout=300ms",
                        "--refstack.bindings.timeout=300ms")) {
            for (String path : List.of("/connectors/soap/messages?id=x",
                    "/connectors/rpc/messages?id=x", "/bindings/http", "/bindings/soap",
                    "/bindings/rpc")) {
                Answer answer = node.post(path, new byte[1], "Content-Type", "application/xml");
                assertThat(answer.status()).as(path).isEqualTo(504);
                assertThat(answer.body()).as(path).contains("did not answer in time.");
            }
        }
    }
}
