package refstack.bindings;

import jakarta.jms.BytesMessage;
import jakarta.jms.Connection;
import jakarta.jms.DeliveryMode;
import jakarta.jms.JMSException;
import jakarta.jms.MapMessage;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.ResourceAllocationException;
import jakarta.jms.Session;
import jakarta.jms.TemporaryQueue;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import refstack.core.BackendTimeoutException;
import refstack.core.BackendUnavailableException;

/**
 * A message over a broker's queue and a reply over another one, or none. Each call borrows a
 * session, which has a reply queue of its own and stays open.
 */
class JmsBinding implements OneWayBinding, AutoCloseable {

    static final String WAY = "jms";

    private final JmsLink link;
    private final long timeoutMillis;
    private final boolean isPersistent;
    private final Semaphore permits;
    private final Queue<Lane> free = new ConcurrentLinkedQueue<>();
    private final AtomicLong number = new AtomicLong();

    JmsBinding(String url, BindingProperties properties) {
        this.timeoutMillis = properties.timeout().toMillis();
        this.isPersistent = properties.jmsPersistent();
        this.permits = new Semaphore(properties.jmsSenders());
        this.link = new JmsLink(url, properties);
    }

    /** A session with what it sends and receives by. */
    private record Lane(Connection connection, Session session, MessageProducer producer,
            TemporaryQueue replies, MessageConsumer consumer) {
    }

    @Override
    public String way() {
        return WAY;
    }

    @Override
    public Reply call(Payload payload) {
        if (!permits.tryAcquire()) {
            throw full();
        }
        return borrowed(lane -> exchange(lane, payload));
    }

    /** It is on the broker's disk, if requests are, when this returns. */
    @Override
    public void send(Payload payload) {
        try {
            if (!permits.tryAcquire(timeoutMillis, TimeUnit.MILLISECONDS)) {
                throw full();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BackendUnavailableException("The node is being stopped.", e);
        }
        borrowed(lane -> {
            lane.producer.send(request(lane, payload), lane.producer.getDeliveryMode(),
                    Message.DEFAULT_PRIORITY, Message.DEFAULT_TIME_TO_LIVE);
            return null;
        });
    }

    private static PoolFullException full() {
        return new PoolFullException("of sessions with the broker");
    }

    /** What is done with a session. */
    private interface Exchange<T> {

        T with(Lane lane) throws JMSException;
    }

    /** Does something with a free session, under a permit that is given back then. */
    private <T> T borrowed(Exchange<T> exchange) {
        Lane lane = null;
        boolean isSound = false;
        try {
            lane = free.poll();
            if (lane == null) {
                lane = open();
            }
            T result = exchange.with(lane);
            isSound = true;
            return result;
        } catch (ResourceAllocationException e) {
            isSound = true;
            throw new PoolFullException("of the broker's queue");
        } catch (JMSException e) {
            throw new BackendUnavailableException("The broker cannot be reached.", e);
        } finally {
            end(lane, isSound);
            permits.release();
        }
    }

    private Lane open() throws JMSException {
        Connection connection = link.connection();
        try {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageProducer producer = session.createProducer(session.createQueue(JmsLink.QUEUE));
            producer.setDeliveryMode(
                    isPersistent ? DeliveryMode.PERSISTENT : DeliveryMode.NON_PERSISTENT);
            producer.setTimeToLive(timeoutMillis);
            TemporaryQueue replies = session.createTemporaryQueue();
            return new Lane(connection, session, producer, replies,
                    session.createConsumer(replies));
        } catch (JMSException e) {
            link.drop(connection);
            throw e;
        }
    }

    private static BytesMessage request(Lane lane, Payload payload) throws JMSException {
        BytesMessage request = lane.session.createBytesMessage();
        request.writeBytes(payload.body());
        request.setStringProperty(JmsLink.ID, payload.id());
        if (payload.work() != Work.LEAST) {
            request.setStringProperty(JmsLink.WORK, payload.work().text());
        }
        return request;
    }

    private Reply exchange(Lane lane, Payload payload) throws JMSException {
        String correlation = Long.toString(number.incrementAndGet());
        BytesMessage request = request(lane, payload);
        request.setJMSCorrelationID(correlation);
        request.setJMSReplyTo(lane.replies);
        lane.producer.send(request);
        long deadline = System.nanoTime() + timeoutMillis * 1_000_000;
        while (true) {
            long left = (deadline - System.nanoTime()) / 1_000_000;
            Message reply = left > 0 ? lane.consumer.receive(left) : null;
            if (reply == null) {
                throw new BackendTimeoutException("No reply came over the broker in time.", null);
            }
            if (correlation.equals(reply.getJMSCorrelationID())) {
                return plain((MapMessage) reply);
            }
        }
    }

    private static Reply plain(MapMessage reply) throws JMSException {
        return new Reply(reply.getString("id"), reply.getLong("bytes"), reply.getLong("checksum"),
                reply.getString("thread"), reply.getString("pool"), reply.getString("node"));
    }

    private void end(Lane lane, boolean isSound) {
        if (lane != null && isSound) {
            free.add(lane);
        } else if (lane != null) {
            free.removeIf(other -> other.connection == lane.connection);
            link.drop(lane.connection);
        }
    }

    @Override
    public void close() {
        link.close();
    }
}
