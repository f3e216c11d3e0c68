package refstack.transport;

import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import org.springframework.boot.web.server.PortInUseException;
import org.springframework.context.SmartLifecycle;

/**
 * Where a node listens for remote procedure calls. It listens before the web server does and stops
 * after it: a node may be its own receiver.
 */
public final class RpcEndpoint implements SmartLifecycle, AutoCloseable {

    private static final int STOP_SECONDS = 10;
    private static final int BEFORE_WEB = 1 << 16;

    private final Server server;
    private final int wantedPort;
    private final IntConsumer portTeller;
    private volatile boolean isRunning;

    /**
     * Makes it, still closed.
     *
     * @param wantedPort what the server is built for, 0 = any
     * @param portTeller is told the real one
     */
    public RpcEndpoint(NettyServerBuilder server, int wantedPort, IntConsumer portTeller) {
        // The network's threads find the method; its work goes to the service's own.
        this.server = server.directExecutor().build();
        this.wantedPort = wantedPort;
        this.portTeller = portTeller;
    }

    @Override
    public int getPhase() {
        return DEFAULT_PHASE - BEFORE_WEB;
    }

    @Override
    public void start() {
        try {
            server.start();
            isRunning = true;
            portTeller.accept(server.getPort());
        } catch (IOException e) {
            throw new PortInUseException(wantedPort, e);
        }
    }

    @Override
    public void stop() {
        isRunning = false;
        server.shutdown();
        try {
            if (!server.awaitTermination(STOP_SECONDS, TimeUnit.SECONDS)) {
                server.shutdownNow();
            }
        } catch (InterruptedException e) {
            server.shutdownNow();
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        stop();
    }

    @Override
    public boolean isRunning() {
        return isRunning;
    }

    /** The port on which it listens, -1 before it does. */
    public int port() {
        return isRunning ? server.getPort() : -1;
    }
}
