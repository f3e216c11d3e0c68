package refstack.nullserver;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * Answers every GET with the same 200 and body: {@code NullServer [--port 0] [--body-bytes
 * 1024]}, on the loopback address. What a load generator reaches against it is the generator's
 * own ceiling.
 *
 * <p>One thread serves all connections. Prints {@code ready PORT} when it listens. {@code GET
 * /count} answers with the number of other requests answered so far; their bytes are on their way
 * before a later {@code /count} is read, so the number is exact for a client that has its answers.
 */
public final class NullServer {

    private final Answers answers;
    private final ServerSocketChannel listener;
    private final Selector selector;

    NullServer(int port, int bodyBytes) throws IOException {
        answers = new Answers(bodyBytes);
        selector = Selector.open();
        listener = ServerSocketChannel.open();
        listener.setOption(StandardSocketOptions.SO_REUSEADDR, true);
        listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1024);
        listener.configureBlocking(false);
        listener.register(selector, SelectionKey.OP_ACCEPT);
    }

    public static void main(String[] arguments) throws IOException {
        NullServer server;
        try {
            Options options = Options.parse(arguments);
            server = new NullServer(options.port(), options.bodyBytes());
        } catch (IllegalArgumentException e) {
            System.err.println("NullServer: " + e.getMessage()
                    + " (usage: NullServer [--port N] [--body-bytes N])");
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
            selector.select(this::handle);
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
                        new Connection(channel, answers));
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
