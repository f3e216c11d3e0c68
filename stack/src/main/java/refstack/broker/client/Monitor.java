package refstack.broker.client;

import java.time.Duration;
import org.apache.activemq.artemis.api.core.client.ClientMessage;
import org.apache.activemq.artemis.api.core.client.ClientRequestor;
import org.apache.activemq.artemis.api.core.client.ClientSession;
import org.apache.activemq.artemis.api.core.client.ClientSessionFactory;
import org.apache.activemq.artemis.api.core.client.ServerLocator;
import org.apache.activemq.artemis.api.core.management.ManagementHelper;
import org.apache.activemq.artemis.api.core.management.ResourceNames;
import refstack.broker.BrokerSettings;
import refstack.core.queue.QueueDepth;
import refstack.core.queue.QueueUnavailableException;

/** Asks the broker for the state of its queues, over a session that is kept while it works. */
final class Monitor implements AutoCloseable {

    private static final String MANAGEMENT = "activemq.management";

    private final ServerLocator locator;
    private final long timeoutMs;
    private ClientSessionFactory factory;
    private ClientSession session;
    private ClientRequestor requestor;

    Monitor(ServerLocator locator, Duration timeout) {
        this.locator = locator;
        this.timeoutMs = timeout.toMillis();
    }

    synchronized QueueDepth depth(String queue) {
        try {
            connect();
            return new QueueDepth(read(queue, "messageCount"), read(queue, "deliveringCount"),
                    read(BrokerSettings.DEAD, "messageCount"));
        } catch (Exception e) {
            close();
            throw new QueueUnavailableException("The broker does not answer.", e);
        }
    }

    private void connect() throws Exception {
        if (session != null && !session.isClosed()) {
            return;
        }
        close();
        factory = locator.createSessionFactory();
        session = factory.createSession();
        requestor = new ClientRequestor(session, MANAGEMENT);
        session.start();
    }

    private long read(String queue, String attribute) throws Exception {
        ClientMessage request = session.createMessage(false);
        ManagementHelper.putAttribute(request, ResourceNames.QUEUE + queue, attribute);
        ClientMessage answer = requestor.request(request, timeoutMs);
        if (answer == null || !ManagementHelper.hasOperationSucceeded(answer)) {
            throw new IllegalStateException("no " + attribute + " of queue " + queue);
        }
        return ((Number) ManagementHelper.getResult(answer)).longValue();
    }

    @Override
    public synchronized void close() {
        if (factory != null) {
            factory.close();
        }
        factory = null;
        session = null;
        requestor = null;
    }
}
