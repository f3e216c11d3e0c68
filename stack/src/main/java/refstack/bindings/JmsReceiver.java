package refstack.bindings;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import refstack.core.NamedThreads;
import refstack.core.PoolLimits;
import refstack.core.TunablePool;

/**
 * The receiver behind the broker's queue: so many sessions, each of which has one message worked on
 * at a time by a thread of the pool. How many there are can be changed.
 */
class JmsReceiver implements TunablePool, AutoCloseable {

    private static final String NAME = "bindings-jms-sessions";

    private final JmsLink link;
    private final WorkPool pool;
    private final Receiver receiver;
    private final int maxBytes;
    private final ThreadFactory threads = NamedThreads.of(NAME);
    private final Deque<JmsSession> running = new ArrayDeque<>();

    JmsReceiver(String url, Receiver receiver, WorkPool pool, BindingProperties properties) {
        this.receiver = receiver;
        this.pool = pool;
        this.maxBytes = properties.maxBytes();
        this.link = new JmsLink(url, properties);
        open(properties.jmsConsumers());
    }

    @Override
    public String name() {
        return NAME;
    }

    /** The sessions: messages that are worked on at once at most. */
    @Override
    public synchronized PoolLimits limits() {
        return PoolLimits.of(running.size());
    }

    /** Waits until the messages under work in sessions that are to end are done. */
    @Override
    public synchronized void resize(PoolLimits limits) {
        if (limits.isUnlimited() || !limits.idle().isZero()) {
            throw new IllegalArgumentException(
                    name() + " takes a number of threads above 0 only: one a session");
        }
        open(limits.threads());
    }

    private synchronized void open(int count) {
        while (running.size() < count) {
            JmsSession session = new JmsSession(link, pool, receiver, maxBytes);
            running.push(session);
            session.start(threads);
        }
        List<JmsSession> ending = new ArrayList<>();
        while (running.size() > count) {
            ending.add(running.pop());
        }
        ending.forEach(JmsSession::end);
        ending.forEach(JmsSession::await);
    }

    @Override
    public synchronized void close() {
        running.forEach(JmsSession::end);
        link.close();
    }
}
