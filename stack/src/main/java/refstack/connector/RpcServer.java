package refstack.connector;

import io.grpc.Attributes;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallExecutorSupplier;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerTransportFilter;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.net.InetSocketAddress;
import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.function.IntConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import refstack.connector.rpc.BackEndGrpc;
import refstack.connector.rpc.Branch;
import refstack.connector.rpc.Branches;
import refstack.connector.rpc.Credentials;
import refstack.connector.rpc.Nothing;
import refstack.connector.rpc.Receipt;
import refstack.transport.Rpc;
import refstack.transport.RpcEndpoint;

/**
 * The back end by remote procedure calls. A login is good for the connection that it came over, and
 * what a connection began and did not prepare ends with it.
 */
class RpcServer extends BackEndGrpc.BackEndImplBase {

    private static final Logger LOGGER = LoggerFactory.getLogger(RpcServer.class);
    private static final Attributes.Key<Peer> PEER = Attributes.Key.create("peer");
    private static final Context.Key<Peer> CALLER = Context.key("caller");

    private final BackEndSystem system;
    private final refstack.connector.Branches branches;
    private final Logins.Check logins;
    private final RpcEndpoint endpoint;
    private final Counter plainCalls;
    private final Counter loggedCalls;

    RpcServer(BackEndSystem system, refstack.connector.Branches branches, Logins.Check logins,
            InetSocketAddress address, IntConsumer portTeller, int maxBytes, Threads threads,
            MeterRegistry registry) {
        this.system = system;
        this.branches = branches;
        this.logins = logins;
        this.plainCalls = calls(registry, Connector.RPC);
        this.loggedCalls = calls(registry, Connector.LOGGED);
        Counter connections = Counter.builder("refstack.connector.connections")
                .tag("protocol", "rpc").register(registry);
        this.endpoint = new RpcEndpoint(NettyServerBuilder.forAddress(address)
                .callExecutor(threads)
                .maxInboundMessageSize(maxBytes)
                .intercept(new LoginCheck())
                .addTransportFilter(new Connections(connections, threads.ends()))
                .addService(this), address.getPort(), portTeller);
    }

    private static Counter calls(MeterRegistry registry, String way) {
        return Counter.builder("refstack.connector.calls").tag("way", way).register(registry);
    }

    @Override
    public void login(Credentials credentials, StreamObserver<Nothing> answer) {
        if (logins.accepts(credentials.getUser(), credentials.getPassword())) {
            CALLER.get().isLoggedIn = true;
            answer.onNext(Nothing.getDefaultInstance());
            answer.onCompleted();
        } else {
            answer.onError(Status.UNAUTHENTICATED.withDescription("Wrong name or password.")
                    .asException());
        }
    }

    @Override
    public void process(refstack.connector.rpc.Message request,
            StreamObserver<Receipt> answer) {
        answer(answer, () -> {
            Message message = new Message(request.getId(), request.getBody().toByteArray());
            StoredReceipt stored;
            if (request.getBranch().isEmpty()) {
                plainCalls.increment();
                stored = system.store(message, Connector.RPC);
            } else {
                loggedCalls.increment();
                stored = branches.store(request.getBranch(), CALLER.get(), message,
                        Connector.LOGGED);
            }
            return Receipt.newBuilder().setId(stored.id()).setBytes(stored.bytes())
                    .setStored(stored.stored()).build();
        });
    }

    @Override
    public void prepare(Branch branch, StreamObserver<Nothing> answer) {
        end(answer, () -> branches.prepare(branch.getName()));
    }

    @Override
    public void commit(Branch branch, StreamObserver<Nothing> answer) {
        end(answer, () -> branches.commit(branch.getName()));
    }

    /** A branch that is not there any more is as good as rolled back. */
    @Override
    public void rollback(Branch branch, StreamObserver<Nothing> answer) {
        end(answer, () -> {
            branches.rollback(branch.getName());
            return true;
        });
    }

    @Override
    public void recover(Nothing request, StreamObserver<Branches> answer) {
        answer(answer, () -> Branches.newBuilder().addAllNames(branches.prepared()).build());
    }

    /** Where it is served. */
    RpcEndpoint endpoint() {
        return endpoint;
    }

    private static void end(StreamObserver<Nothing> answer, Callable<Boolean> step) {
        answer(answer, () -> {
            if (!step.call()) {
                throw new NoBranchException("There is no such branch.", null);
            }
            return Nothing.getDefaultInstance();
        });
    }

    private static <T> void answer(StreamObserver<T> answer, Callable<T> work) {
        if (!Context.current().isCancelled()) { // else the caller gave up while its call waited
            Rpc.answer(answer, work, RpcServer::status);
        }
    }

    private static Status status(Exception failure) {
        if (failure instanceof NoBranchException) {
            return Status.NOT_FOUND.withDescription(failure.getMessage());
        }
        if (failure instanceof SQLException refused) {
            LOGGER.warn("call not done: {}", BackEndSystem.inOneLine(refused));
            return Status.ABORTED.withDescription("The database refused.");
        }
        LOGGER.error("call failed", failure);
        return Status.UNKNOWN;
    }

    /**
     * The threads of calls. Those that end an open branch have their own: an open branch holds a
     * connection of the database pool, and if calls that wait for one (a commit is one of them)
     * could take all threads, the ends that would free it could not run.
     */
    record Threads(ExecutorService calls, ExecutorService ends)
            implements ServerCallExecutorSupplier {

        private static final Set<MethodDescriptor<?, ?>> ENDS = Set.of(
                BackEndGrpc.getPrepareMethod(), BackEndGrpc.getRollbackMethod());

        @Override
        public <A, B> ExecutorService getExecutor(ServerCall<A, B> call, Metadata headers) {
            return ENDS.contains(call.getMethodDescriptor()) ? ends : calls;
        }
    }

    /** Who is at the other end of a connection. */
    private static final class Peer {

        private volatile boolean isLoggedIn;
    }

    /** Counts connections, and cleans up after those that are gone. */
    private final class Connections extends ServerTransportFilter {

        private final Counter opened;
        private final ExecutorService cleaners;

        Connections(Counter opened, ExecutorService cleaners) {
            this.opened = opened;
            this.cleaners = cleaners;
        }

        @Override
        public Attributes transportReady(Attributes attributes) {
            opened.increment();
            return attributes.toBuilder().set(PEER, new Peer()).build();
        }

        @Override
        public void transportTerminated(Attributes attributes) {
            Peer peer = attributes == null ? null : attributes.get(PEER);
            if (peer != null && endpoint.isRunning()) {
                cleaners.execute(() -> branches.abandon(peer));
            }
        }
    }

    /** Refuses calls over connections that have not logged in. */
    private static final class LoginCheck implements ServerInterceptor {

        @Override
        public <A, B> ServerCall.Listener<A> interceptCall(ServerCall<A, B> call,
                Metadata headers, ServerCallHandler<A, B> next) {
            Peer peer = call.getAttributes().get(PEER);
            if (peer.isLoggedIn
                    || BackEndGrpc.getLoginMethod().equals(call.getMethodDescriptor())) {
                return Contexts.interceptCall(Context.current().withValue(CALLER, peer), call,
                        headers, next);
            }
            call.close(Status.UNAUTHENTICATED.withDescription("Not logged in."), new Metadata());
            return new ServerCall.Listener<>() {
            };
        }
    }
}
