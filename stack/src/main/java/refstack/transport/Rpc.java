package refstack.transport;

import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.function.Function;

/** Remote procedure calls as both sides use them. */
public final class Rpc {

    private Rpc() {
    }

    /** A connection, opened by its first call. */
    public static ManagedChannel channel(String address, Duration toConnect) {
        return NettyChannelBuilder.forTarget(address).usePlaintext()
                .directExecutor()
                .withOption(ChannelOption.CONNECT_TIMEOUT_MILLIS,
                        Math.toIntExact(toConnect.toMillis()))
                .build();
    }

    /** Answers with the result of the work, or with the status of its failure and the message. */
    public static <T> void answer(StreamObserver<T> answer, Callable<T> work,
            Function<Exception, Status> status) {
        T done;
        try {
            done = work.call();
        } catch (Exception e) {
            answer.onError((e instanceof IllegalArgumentException
                    ? Status.INVALID_ARGUMENT.withDescription(e.getMessage())
                    : status.apply(e)).asException());
            return;
        }
        answer.onNext(done);
        answer.onCompleted();
    }
}
