package refstack.broker.client;

import jakarta.jms.BytesMessage;
import jakarta.jms.Connection;
import jakarta.jms.DeliveryMode;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.IntFunction;
import org.apache.activemq.artemis.api.core.ActiveMQException;
import org.apache.activemq.artemis.api.core.ActiveMQExceptionType;
import org.apache.activemq.artemis.jms.client.ActiveMQConnectionFactory;
import org.messaginghub.pooled.jms.JmsPoolConnectionFactory;
import refstack.core.queue.DurableQueues;
import refstack.core.queue.QueueConsumers;
import refstack.core.queue.QueueDepth;
import refstack.core.queue.QueueFullException;
import refstack.core.queue.QueueHandler;
import refstack.core.queue.QueueUnavailableException;
import refstack.core.queue.QueuedMessage;

/**
 * Durable queues over Jakarta Messaging: a pool of sessions to send, a connection of its own for
 * each consumer, and one to ask the broker.
 */
final class JmsQueues implements DurableQueues, AutoCloseable {

    private static final String ID = "id";

    private final ActiveMQConnectionFactory factory;
    private final BrokerProperties properties;
    private final JmsPoolConnectionFactory pool = new JmsPoolConnectionFactory();
    private final Monitor monitor;
    private final List<Consumers> consumers = new CopyOnWriteArrayList<>();

    JmsQueues(ActiveMQConnectionFactory factory, BrokerProperties properties) {
        this.factory = factory;
        this.properties = properties;
        this.monitor = new Monitor(factory.getServerLocator(), properties.callTimeout());
        pool.setConnectionFactory(factory);
        pool.setMaxConnections(1);
        pool.setMaxSessionsPerConnection(properties.senders());
        pool.setBlockIfSessionPoolIsFull(true);
        pool.setBlockIfSessionPoolIsFullTimeout(properties.senderTimeout().toMillis());
        pool.setConnectionIdleTimeout(0);
    }

    static Message message(Session session, QueuedMessage message) throws JMSException {
        BytesMessage result = session.createBytesMessage();
        result.setStringProperty(ID, message.id());
        result.writeBytes(message.body());
        return result;
    }

    static QueuedMessage message(Message message) throws JMSException {
        if (!(message instanceof BytesMessage bytes)) {
            throw new JMSException("a message of another kind: " + message.getClass());
        }
        byte[] body = new byte[(int) bytes.getBodyLength()];
        bytes.readBytes(body);
        return new QueuedMessage(message.getStringProperty(ID), body);
    }

    @Override
    public void send(String queue, QueuedMessage message) {
        try (Connection connection = pool.createConnection();
                Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
                MessageProducer producer = producer(session, queue)) {
            producer.send(message(session, message));
        } catch (JMSException e) {
            throw failure(queue, e);
        }
    }

    @Override
    public void sendAll(String queue, int count, IntFunction<QueuedMessage> message,
            int perTransaction) {
        try (Connection connection = pool.createConnection();
                Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
                MessageProducer producer = producer(session, queue)) {
            for (int i = 0; i < count; i++) {
                producer.send(message(session, message.apply(i)));
                if ((i + 1) % perTransaction == 0 || i + 1 == count) {
                    session.commit();
                }
            }
        } catch (JMSException e) {
            throw failure(queue, e);
        }
    }

    private static MessageProducer producer(Session session, String queue) throws JMSException {
        MessageProducer producer = session.createProducer(session.createQueue(queue));
        producer.setDeliveryMode(DeliveryMode.PERSISTENT);
        producer.setDisableMessageTimestamp(true);
        return producer;
    }

    private static RuntimeException failure(String queue, JMSException failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof ActiveMQException broker
                    && broker.getType() == ActiveMQExceptionType.ADDRESS_FULL) {
                return new QueueFullException("Queue " + queue + " is full.", failure);
            }
        }
        return new QueueUnavailableException(
                "It cannot be said whether queue " + queue + " has the message.", failure);
    }

    @Override
    public QueueConsumers consume(String name, String queue, int count, QueueHandler handler) {
        Consumers started = new Consumers(name, queue, factory, handler,
                properties.retryDelay());
        consumers.add(started);
        started.resize(count);
        return started;
    }

    @Override
    public QueueDepth depth(String queue) {
        return monitor.depth(queue);
    }

    @Override
    public void close() {
        consumers.forEach(Consumers::close);
        pool.stop();
        monitor.close();
        factory.close();
    }
}
