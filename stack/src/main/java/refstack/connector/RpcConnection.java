package refstack.connector;

import com.google.protobuf.UnsafeByteOperations;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import refstack.connector.rpc.BackEndGrpc;
import refstack.connector.rpc.Branch;
import refstack.connector.rpc.Credentials;
import refstack.connector.rpc.Nothing;
import refstack.connector.rpc.Receipt;
import refstack.core.BackendUnavailableException;
import refstack.transport.CallFailure;
import refstack.transport.Rpc;

/**
 * One connection to the back end, used by one caller at a time. It is opened and logged in by its
 * first call and then kept; one that broke is replaced by the next call, which logs in anew.
 */
class RpcConnection implements AutoCloseable {

    private final String address;
    private final ConnectorProperties properties;
    private final Credentials credentials;
    private volatile ManagedChannel channel;
    private volatile boolean isClosed;
    private boolean isLoggedIn;

    RpcConnection(String address, ConnectorProperties properties) {
        this.address = address;
        this.properties = properties;
        this.credentials = Credentials.newBuilder().setUser(properties.user())
                .setPassword(properties.password()).build();
    }

    StoredReceipt process(Message message, String branch) {
        refstack.connector.rpc.Message request = refstack.connector.rpc.Message.newBuilder()
                .setId(message.id())
                .setBody(UnsafeByteOperations.unsafeWrap(message.body()))
                .setBranch(branch)
                .build();
        Receipt receipt = call(stub -> stub.process(request));
        return new StoredReceipt(receipt.getId(), receipt.getBytes(), receipt.getStored());
    }

    void prepare(String branch) {
        call(stub -> stub.prepare(named(branch)));
    }

    void commit(String branch) {
        call(stub -> stub.commit(named(branch)));
    }

    void rollback(String branch) {
        call(stub -> stub.rollback(named(branch)));
    }

    List<String> recover() {
        return call(stub -> stub.recover(Nothing.getDefaultInstance())).getNamesList();
    }

    @Override
    public void close() {
        isClosed = true;
        drop();
    }

    private static Branch named(String branch) {
        return Branch.newBuilder().setName(branch).build();
    }

    /** A call on a stub. */
    private interface Call<T> {
        T on(BackEndGrpc.BackEndBlockingStub stub);
    }

    /**
     * Calls over a connection that is logged in. gRPC reconnects by itself where a connection at
     * rest was closed (the back end was restarted); that one is a stranger and logs in again.
     */
    private <T> T call(Call<T> call) {
        try {
            if (!isLoggedIn) {
                logIn();
            }
            try {
                return call.on(stub());
            } catch (StatusRuntimeException e) {
                if (e.getStatus().getCode() != Status.Code.UNAUTHENTICATED) {
                    throw e;
                }
                logIn();
                return call.on(stub());
            }
        } catch (StatusRuntimeException e) {
            if (e.getStatus().getCode() == Status.Code.UNAVAILABLE) {
                drop(); // gRPC would wait longer and longer before it tries this one again
            }
            throw translated(e);
        }
    }

    private void logIn() {
        isLoggedIn = false;
        stub().login(credentials);
        isLoggedIn = true;
    }

    private BackEndGrpc.BackEndBlockingStub stub() {
        ManagedChannel used = channel;
        if (used == null) {
            if (isClosed) {
                throw new BackendUnavailableException("This node is about to stop.", null);
            }
            used = Rpc.channel(address, properties.acquireTimeout());
            channel = used;
        }
        return BackEndGrpc.newBlockingStub(used).withDeadlineAfter(
                properties.callTimeout().toMillis(), TimeUnit.MILLISECONDS);
    }

    private void drop() {
        ManagedChannel dropped = channel;
        channel = null;
        isLoggedIn = false;
        if (dropped != null) {
            dropped.shutdownNow();
        }
    }

    private static RuntimeException translated(StatusRuntimeException failure) {
        return failure.getStatus().getCode() == Status.Code.NOT_FOUND
                ? new NoBranchException(failure.getStatus().getDescription(), failure)
                : CallFailure.of("The back end", failure);
    }
}
