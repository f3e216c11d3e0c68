package refstack.bindings;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import refstack.core.BackendTimeoutException;
import refstack.core.BackendUnavailableException;

/** An asynchronous call in the process: a queue in memory, a pool behind it, a reply awaited. */
record QueueBinding(Receiver receiver, WorkPool pool, Duration timeout) implements OneWayBinding {

    static final String WAY = "queue";

    private static final Logger LOGGER = LoggerFactory.getLogger(QueueBinding.class);

    @Override
    public String way() {
        return WAY;
    }

    @Override
    public Reply call(Payload payload) {
        CompletableFuture<Reply> reply = new CompletableFuture<>();
        pool.execute(() -> {
            if (!reply.isDone()) {
                serve(payload, reply);
            }
        });
        try {
            return reply.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            reply.cancel(false);
            throw new BackendTimeoutException("No thread of the pool replied in time.", e);
        } catch (ExecutionException e) {
            throw new BackendUnavailableException("The receiver failed.", e);
        } catch (InterruptedException e) {
            throw stopped(e);
        }
    }

    private void serve(Payload payload, CompletableFuture<Reply> reply) {
        try {
            reply.complete(receiver.receive(WAY, payload));
        } catch (BackendUnavailableException e) {
            reply.completeExceptionally(e);
        }
    }

    /** What fails later is counted by the receiver, and lost: the queue is in memory. */
    @Override
    public void send(Payload payload) {
        try {
            if (!pool.executeWithin(timeout, () -> serve(payload))) {
                throw pool.full();
            }
        } catch (InterruptedException e) {
            throw stopped(e);
        }
    }

    private void serve(Payload payload) {
        try {
            receiver.receiveOneWay(WAY, payload);
        } catch (BackendUnavailableException e) {
            LOGGER.debug("a message was not worked on", e);
        }
    }

    private static BackendUnavailableException stopped(InterruptedException cause) {
        Thread.currentThread().interrupt();
        return new BackendUnavailableException("The node is being stopped.", cause);
    }
}
