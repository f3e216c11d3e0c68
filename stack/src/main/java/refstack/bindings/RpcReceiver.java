package refstack.bindings;

import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import java.net.InetSocketAddress;
import refstack.bindings.rpc.PayloadMessage;
import refstack.bindings.rpc.ReceiverServiceGrpc;
import refstack.bindings.rpc.ReplyMessage;
import refstack.transport.Rpc;
import refstack.transport.RpcEndpoint;

/** The receiver over remote procedure calls: read by the network's threads, served by a pool. */
class RpcReceiver extends ReceiverServiceGrpc.ReceiverServiceImplBase {

    private static final int HEADERS = 1024;

    private final Receiver receiver;
    private final WorkPool pool;

    RpcReceiver(Receiver receiver, WorkPool pool) {
        this.receiver = receiver;
        this.pool = pool;
    }

    /** Where it is served. */
    RpcEndpoint at(String host, int port, int maxBytes) {
        return new RpcEndpoint(NettyServerBuilder.forAddress(new InetSocketAddress(host, port))
                .maxInboundMessageSize(maxBytes + HEADERS)
                .addService(this), port, real -> { });
    }

    @Override
    public void receive(PayloadMessage message, StreamObserver<ReplyMessage> observer) {
        try {
            pool.execute(() -> Rpc.answer(observer, () -> reply(message),
                    failure -> Status.UNAVAILABLE.withDescription(failure.getMessage())));
        } catch (PoolFullException e) {
            observer.onError(Status.RESOURCE_EXHAUSTED.withDescription(e.getMessage())
                    .asRuntimeException());
        }
    }

    private ReplyMessage reply(PayloadMessage message) {
        Reply reply = receiver.receive(RpcBinding.WAY, new Payload(message.getId(),
                message.getBody().toByteArray(), Work.of(message.getWork())));
        return ReplyMessage.newBuilder().setId(reply.id()).setBytes(reply.bytes())
                .setChecksum(reply.checksum()).setThread(reply.thread()).setPool(reply.pool())
                .setNode(reply.node()).build();
    }
}
