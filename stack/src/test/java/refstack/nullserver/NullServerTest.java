package refstack.nullserver;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The null server answers every request once, however it arrives. */
class NullServerTest {

    private static final String REQUEST = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";
    private static final String COUNT = "GET /count HTTP/1.1\r\nHost: a\r\n\r\n";

    private NullServer server;
    private Thread thread;

    @BeforeEach
    void start() throws IOException {
        server = new NullServer(Options.parse(new String[] {"--body-bytes", "100"}));
        thread = new Thread(() -> {
            try {
                server.serve();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        thread.start();
    }

    @AfterEach
    void stop() throws InterruptedException {
        thread.interrupt();
        thread.join();
    }

    @Test
    void answersWithTheFixedBody() throws IOException {
        try (Client client = new Client()) {
            client.send(REQUEST);
            assertThat(client.read()).isEqualTo("x".repeat(100));
            client.send(REQUEST);
            assertThat(client.read()).isEqualTo("x".repeat(100));
        }
    }

    @Test
    void answersPipelinedRequestsAndCountsThem() throws IOException {
        try (Client client = new Client()) {
            client.send(REQUEST.repeat(1000) + COUNT);
            for (int i = 0; i < 1000; i++) {
                assertThat(client.read()).hasSize(100);
            }
            assertThat(client.read()).isEqualTo("1000");
            client.send(COUNT);
            assertThat(client.read()).isEqualTo("1000");
        }
    }

    @Test
    void putsRequestsTogetherThatArriveInPieces() throws Exception {
        try (Client client = new Client()) {
            for (char piece : (REQUEST + COUNT).toCharArray()) {
                client.send(String.valueOf(piece));
            }
            assertThat(client.read()).hasSize(100);
            assertThat(client.read()).isEqualTo("1");
        }
    }

    @Test
    void refusesWhatIsNoGetAndHangsUp() throws IOException {
        try (Client client = new Client()) {
            client.send("BREW / HTTP/1.1\r\n\r\n");
            assertThat(client.in.readAllBytes()).startsWith("HTTP/1.1 400".getBytes());
        }
    }

    @Test
    void servesSeveralClients() throws IOException {
        try (Client one = new Client(); Client two = new Client()) {
            two.send(REQUEST);
            one.send(REQUEST);
            assertThat(one.read()).hasSize(100);
            assertThat(two.read()).hasSize(100);
        }
    }

    /** A client that reads one answer at a time. */
    private final class Client implements AutoCloseable {

        private final Socket socket =
                new Socket(InetAddress.getLoopbackAddress(), server.port());
        private final DataInputStream in = new DataInputStream(socket.getInputStream());
        private final OutputStream out = socket.getOutputStream();

        Client() throws IOException {
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(5_000);
        }

        void send(String text) throws IOException {
            out.write(text.getBytes(StandardCharsets.US_ASCII));
        }

        String read() throws IOException {
            StringBuilder head = new StringBuilder();
            while (head.indexOf("\r\n\r\n") < 0) {
                head.append((char) in.readUnsignedByte());
            }
            assertThat(head).startsWith("HTTP/1.1 200 OK\r\n");
            int start = head.indexOf("Content-Length: ") + "Content-Length: ".length();
            int length = Integer.parseInt(head.substring(start, head.indexOf("\r\n", start)));
            return new String(in.readNBytes(length), StandardCharsets.US_ASCII);
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
