package refstack.nullserver;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * Answers every GET with the same 200 and body: {@code NullServer [--address
 * 127.0.0.1] [--port 0] [--body-bytes 1024]}. What a load generator reaches against it is the generator's
 * own ceiling.
 *
 * <p>With {@code --delay-law} (see {@link DelayLaw}; {@code --delay-seed 1}) each answer comes as
 * long after its request as the law says, and with {@code --freeze-at-s T --freeze-for-s L} the
 * server stands still for L seconds, T seconds after the first request: what a load generator
 * reports of such a server can be compared with the truth. {@code GET /begin} then starts the
 * numbers of the law and the time of the freeze anew, {@code GET /timeline} tells when requests
 * were read and answered (see {@link Timeline}). The thread never sleeps then.
 *
 * <p>One thread serves all connections. Prints {@code ready PORT} when it listens. {@code GET
 * /count} answers with the number of other requests answered so far; their bytes are on their way
 * before a later {@code /count} is read, so the number is exact for a client that has its answers.
 */
public final class NullServer {

    private static final int TIMELINE_CAPACITY = 1 << 21;

    private final Answers answers;
    private final DelayLine delays;
    private final ServerSocketChannel listener;
    private final Selector selector;

    NullServer(Options options) throws IOException {
        answers = new Answers(options.bodyBytes());
        delays = options.law() == null ? null
                : new DelayLine(options.law(), options.freeze(), new Timeline(TIMELINE_CAPACITY));
        selector = Selector.open();
        listener = ServerSocketChannel.open();
        listener.setOption(StandardSocketOptions.SO_REUSEADDR, true);
        listener.bind(new InetSocketAddress(options.address(), options.port()), 1024);
        listener.configureBlocking(false);
        listener.register(selector, SelectionKey.OP_ACCEPT);
    }

    public static void main(String[] arguments) throws IOException {
        NullServer server;
        try {
            server = new NullServer(Options.parse(arguments));
        } catch (IllegalArgumentException e) {
            System.err.println("NullServer: " + e.getMessage()
                    + " (usage: NullServer [--address A] [--port N] [--body-bytes N] [--delay-law LAW]"
                    + " [--delay-seed N] [--freeze-at-s S --freeze-for-s S])");
            System.exit(2);
            return;
        }
        System.out.println("ready " + server.port());
        server.serve();
    }

    int port() {
        return listener.socket().getLocalPort();
    }

    /** Serves until the thread is interrupted. */
    void serve() throws IOException {
        while (!Thread.currentThread().isInterrupted()) {
            if (delays == null) {
                selector.select(this::handle);
            } else {
                delays.advance();
                selector.selectNow(this::handle);
            }
        }
        for (SelectionKey key : selector.keys()) {
            key.channel().close();
        }
        selector.close();
    }

    private void handle(SelectionKey key) {
        if (key.isAcceptable()) {
            accept();
            return;
        }
        Connection connection = (Connection) key.attachment();
        try {
            if (!connection.advance()) {
                key.channel().close();
                return;
            }
            int wanted = connection.hasOutput() ? SelectionKey.OP_WRITE : SelectionKey.OP_READ;
            if (key.interestOps() != wanted) {
                key.interestOps(wanted);
            }
        } catch (IOException e) {
            close(key);
        }
    }

    /** A client that is gone before it is accepted is its own problem, not the server's. */
    private void accept() {
        try {
            SocketChannel channel = listener.accept();
            if (channel != null) {
                channel.configureBlocking(false);
                channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
                channel.register(selector, SelectionKey.OP_READ,
                        new Connection(channel, answers, delays));
            }
        } catch (IOException e) {
            System.err.println("NullServer: cannot accept: " + e.getMessage());
        }
    }

    private static void close(SelectionKey key) {
        try {
            key.channel().close();
        } catch (IOException e) {
            key.cancel();
        }
    }
}
