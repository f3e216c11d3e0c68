package refstack.bindings;

import io.grpc.Server;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import refstack.bindings.rpc.PayloadMessage;
import refstack.bindings.rpc.ReceiverServiceGrpc;
import refstack.bindings.rpc.ReplyMessage;
import refstack.core.BackendUnavailableException;

/** The receiver over remote procedure calls: read by the network's threads, served by a pool. */
class RpcReceiver extends ReceiverServiceGrpc.ReceiverServiceImplBase implements AutoCloseable {

    private static final int HEADERS = 1024;

    private final Receiver receiver;
    private final WorkPool pool;
    private final Server server;

    RpcReceiver(Receiver receiver, WorkPool pool, String host, int port, int maxBytes) {
        this.receiver = receiver;
        this.pool = pool;
        this.server = NettyServerBuilder.forAddress(new InetSocketAddress(host, port))
                .directExecutor()
                .maxInboundMessageSize(maxBytes + HEADERS)
                .addService(this)
                .build();
        try {
            server.start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Where it listens. */
    int port() {
        return server.getPort();
    }

    @Override
    public void receive(PayloadMessage message, StreamObserver<ReplyMessage> observer) {
        try {
            pool.execute(() -> answer(message, observer));
        } catch (PoolFullException e) {
            observer.onError(Status.RESOURCE_EXHAUSTED.withDescription(e.getMessage())
                    .asRuntimeException());
        }
    }

    private void answer(PayloadMessage message, StreamObserver<ReplyMessage> observer) {
        Reply reply;
        try {
            reply = receiver.receive(RpcBinding.WAY, new Payload(message.getId(),
                    message.getBody().toByteArray(), Work.of(message.getWork())));
        } catch (BackendUnavailableException | IllegalArgumentException e) {
            observer.onError(Status.UNAVAILABLE.withDescription(e.getMessage())
                    .asRuntimeException());
            return;
        }
        observer.onNext(ReplyMessage.newBuilder().setId(reply.id()).setBytes(reply.bytes())
                .setChecksum(reply.checksum()).setThread(reply.thread()).setPool(reply.pool())
                .setNode(reply.node()).build());
        observer.onCompleted();
    }

    @Override
    public void close() {
        server.shutdownNow();
    }
}
