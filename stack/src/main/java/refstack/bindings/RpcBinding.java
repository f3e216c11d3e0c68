package refstack.bindings;

import com.google.protobuf.UnsafeByteOperations;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import refstack.bindings.rpc.PayloadMessage;
import refstack.bindings.rpc.ReceiverServiceGrpc;
import refstack.bindings.rpc.ReplyMessage;
import refstack.transport.CallFailure;
import refstack.transport.Rpc;

/** A binary remote procedure call over one connection that all callers share. */
class RpcBinding implements Binding, AutoCloseable {

    static final String WAY = "rpc";

    private final ReceiverAddress address;
    private final Duration timeout;
    private ManagedChannel channel;

    RpcBinding(ReceiverAddress address, Duration timeout) {
        this.address = address;
        this.timeout = timeout;
    }

    @Override
    public String way() {
        return WAY;
    }

    @Override
    public Reply call(Payload payload) {
        try {
            ReplyMessage reply = ReceiverServiceGrpc.newBlockingStub(channel())
                    .withDeadlineAfter(timeout.toMillis(), TimeUnit.MILLISECONDS)
                    .receive(PayloadMessage.newBuilder().setId(payload.id())
                            .setBody(UnsafeByteOperations.unsafeWrap(payload.body()))
                            .setWork(payload.work().text()).build());
            return new Reply(reply.getId(), reply.getBytes(), reply.getChecksum(),
                    reply.getThread(), reply.getPool(), reply.getNode());
        } catch (StatusRuntimeException e) {
            throw e.getStatus().getCode() == Status.Code.RESOURCE_EXHAUSTED
                    ? new PoolFullException("of the receiver") : CallFailure.of("The receiver", e);
        }
    }

    private synchronized ManagedChannel channel() {
        if (channel == null) {
            channel = Rpc.channel(address.rpc().get(), timeout);
        }
        return channel;
    }

    @Override
    public synchronized void close() {
        if (channel != null) {
            channel.shutdownNow();
        }
    }
}
