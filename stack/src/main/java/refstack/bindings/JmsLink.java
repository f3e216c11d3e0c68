package refstack.bindings;

import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import org.apache.activemq.artemis.api.core.ActiveMQException;
import org.apache.activemq.artemis.api.core.QueueConfiguration;
import org.apache.activemq.artemis.api.core.RoutingType;
import org.apache.activemq.artemis.jms.client.ActiveMQConnection;
import org.apache.activemq.artemis.jms.client.ActiveMQConnectionFactory;

/** A connection to the broker, opened when it is needed and again after it broke. */
class JmsLink implements AutoCloseable {

    /** The queue of requests; replies have a temporary queue for each session of the sender. */
    static final String QUEUE = "bindings.requests";
    static final String ID = "payloadId";

    /** What is to be done, as {@link Work#text}; absent for the least work. */
    static final String WORK = "payloadWork";

    private final ActiveMQConnectionFactory factory;
    private Connection connection;
    private boolean isClosed;

    JmsLink(String url, BindingProperties properties) {
        factory = new ActiveMQConnectionFactory(url);
        factory.setReconnectAttempts(0);
        factory.setCallTimeout(properties.timeout().toMillis());
        factory.setProducerWindowSize((int) properties.jmsWindow().toBytes());
    }

    /** The connection that there is, or a new one. */
    synchronized Connection connection() throws JMSException {
        if (isClosed) {
            throw new JMSException("the node is being stopped");
        }
        if (connection == null) {
            Connection opened = factory.createConnection();
            try {
                makeQueue((ActiveMQConnection) opened);
                opened.start();
            } catch (JMSException e) {
                close(opened);
                throw e;
            }
            connection = opened;
        }
        return connection;
    }

    /** The broker need not know the queue beforehand. */
    private static void makeQueue(ActiveMQConnection connection) throws JMSException {
        try {
            connection.getInitialSession().createSharedQueue(QueueConfiguration.of(QUEUE)
                    .setRoutingType(RoutingType.ANYCAST).setDurable(true)
                    .setAutoCreateAddress(true));
        } catch (ActiveMQException e) {
            JMSException failure = new JMSException("no queue " + QUEUE);
            failure.setLinkedException(e);
            throw failure;
        }
    }

    /** Forgets a connection that broke, unless another thread has done so already. */
    synchronized void drop(Connection broken) {
        if (broken == connection) {
            connection = null;
        }
        close(broken);
    }

    @Override
    public synchronized void close() {
        isClosed = true;
        close(connection);
        factory.close();
    }

    private static void close(Connection connection) {
        if (connection != null) {
            try {
                connection.close();
            } catch (JMSException e) {
                // It is of no more use, and nothing was on its way.
                return;
            }
        }
    }
}
