package refstack.nullserver;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** With a law no answer comes too early, and the server tells when it read and answered. */
class DelayedServerTest {

    private NullServer server;
    private Thread thread;

    @AfterEach
    void stop() throws InterruptedException {
        thread.interrupt();
        thread.join();
    }

    @Test
    void answersNoEarlierThanTheLawSays() throws IOException {
        start("--delay-law", "constant:2000");
        for (int i = 0; i < 5; i++) {
            long begin = System.nanoTime();
            assertThat(get("/x")).hasSize(100);
            assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(2_000_000);
        }
        LongBuffer timeline = timeline();
        assertThat(timeline.get(2)).isEqualTo(5);
        for (int i = 0; i < 5; i++) {
            assertThat(timeline.get(4 + 2 * i) - timeline.get(3 + 2 * i))
                    .isGreaterThanOrEqualTo(2_000_000);
        }
    }

    @Test
    void beginForgetsWhatWas() throws IOException {
        start("--delay-law", "constant:0");
        get("/x");
        get("/begin");
        assertThat(timeline().get(2)).isZero();
        get("/x");
        assertThat(timeline().get(2)).isEqualTo(1);
    }

    @Test
    void standsStillOnceAndTellsWhen() throws IOException {
        start("--freeze-at-s", "0", "--freeze-for-s", "0.05");
        get("/x");
        get("/x");
        LongBuffer timeline = timeline();
        long begin = timeline.get(0);
        long end = timeline.get(1);
        assertThat(end - begin).isGreaterThanOrEqualTo(50_000_000);
        for (int i = 0; i < 4; i++) {  // nothing was read or answered meanwhile
            long time = timeline.get(3 + i);
            assertThat(time <= begin || time >= end).isTrue();
        }
    }

    private void start(String... options) throws IOException {
        String[] all = new String[options.length + 2];
        System.arraycopy(options, 0, all, 0, options.length);
        all[options.length] = "--body-bytes";
        all[options.length + 1] = "100";
        server = new NullServer(Options.parse(all));
        thread = new Thread(() -> {
            try {
                server.serve();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        thread.start();
    }

    private LongBuffer timeline() throws IOException {
        return ByteBuffer.wrap(get("/timeline")).order(ByteOrder.LITTLE_ENDIAN).asLongBuffer();
    }

    /** The body of one answer, on a connection of its own. */
    private byte[] get(String path) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            socket.setSoTimeout(5_000);
            socket.getOutputStream().write(
                    ("GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n").getBytes());
            StringBuilder head = new StringBuilder();
            while (head.indexOf("\r\n\r\n") < 0) {
                head.append((char) socket.getInputStream().read());
            }
            int start = head.indexOf("Content-Length: ") + "Content-Length: ".length();
            int length = Integer.parseInt(head.substring(start, head.indexOf("\r\n", start)));
            return socket.getInputStream().readNBytes(length);
        }
    }
}
