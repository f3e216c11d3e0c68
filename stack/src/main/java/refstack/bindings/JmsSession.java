package refstack.bindings;

import jakarta.jms.BytesMessage;
import jakarta.jms.Connection;
import jakarta.jms.DeliveryMode;
import jakarta.jms.Destination;
import jakarta.jms.JMSException;
import jakarta.jms.MapMessage;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadFactory;
import org.apache.activemq.artemis.api.jms.ActiveMQJMSConstants;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import refstack.core.BackendUnavailableException;

/**
 * One session of the receiver: its thread fetches a message, has a thread of the pool work on it,
 * and fetches the next one when that is done. A message is off the queue when its work is done.
 */
class JmsSession {

    private static final Logger LOGGER = LoggerFactory.getLogger(JmsSession.class);
    private static final long RETRY_MILLIS = 500;
    private static final long LOOK_MILLIS = 100;
    private static final long END_MILLIS = 10_000;
    private static final Duration PATIENCE = Duration.ofMillis(LOOK_MILLIS);

    private final JmsLink link;
    private final WorkPool pool;
    private final Receiver receiver;
    private final int maxBytes;
    private Thread thread;
    private volatile boolean isEnding;

    JmsSession(JmsLink link, WorkPool pool, Receiver receiver, int maxBytes) {
        this.link = link;
        this.pool = pool;
        this.receiver = receiver;
        this.maxBytes = maxBytes;
    }

    void start(ThreadFactory threads) {
        thread = threads.newThread(this::serve);
        thread.start();
    }

    /** Ends after the message that is under work. */
    void end() {
        isEnding = true;
    }

    /** Waits for the end. */
    void await() {
        try {
            thread.join(END_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Serves until the end, with a new session after each failure. */
    private void serve() {
        while (!isEnding) {
            Connection connection = null;
            try {
                connection = link.connection();
                try (Session session = connection.createSession(false,
                        ActiveMQJMSConstants.INDIVIDUAL_ACKNOWLEDGE)) {
                    serve(session);
                }
            } catch (BackendUnavailableException e) {
                LOGGER.debug("a message goes back to the queue", e);
                rest();
            } catch (RuntimeException e) {
                LOGGER.warn("a message goes back to the queue: {}", e.toString());
                rest();
            } catch (JMSException e) {
                if (!isEnding) {
                    LOGGER.debug("requests not received: {}", e.getMessage());
                    if (connection != null) {
                        link.drop(connection);
                    }
                    rest();
                }
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private void serve(Session session) throws JMSException, InterruptedException {
        MessageConsumer requests = session.createConsumer(session.createQueue(JmsLink.QUEUE));
        MessageProducer replies = session.createProducer(null);
        replies.setDeliveryMode(DeliveryMode.NON_PERSISTENT);
        while (!isEnding) {
            Message request = requests.receive(LOOK_MILLIS);
            if (request != null) {
                hand(session, replies, request);
            }
        }
    }

    /** Has the pool, which a shared one may keep waiting, work on a message; waits for the end. */
    private void hand(Session session, MessageProducer replies, Message request)
            throws JMSException, InterruptedException {
        CompletableFuture<Void> done = new CompletableFuture<>();
        Runnable work = () -> {
            try {
                work(session, replies, request);
                done.complete(null);
            } catch (JMSException | RuntimeException e) {
                done.completeExceptionally(e);
            }
        };
        while (!pool.executeWithin(PATIENCE, work)) {
            if (isEnding) {
                return;
            }
        }
        try {
            done.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof JMSException failure) {
                throw failure;
            }
            throw (RuntimeException) e.getCause();
        }
    }

    /** Works on a message and acknowledges it; what is no request is dropped. */
    private void work(Session session, MessageProducer replies, Message request)
            throws JMSException {
        if (request instanceof BytesMessage bytes && bytes.getBodyLength() <= maxBytes) {
            Payload payload = payload(bytes);
            Destination asker = request.getJMSReplyTo();
            if (asker == null) {
                receiver.receiveOneWay(JmsBinding.WAY, payload);
            } else {
                replies.send(asker, reply(session, request, payload));
            }
        } else {
            LOGGER.warn("a message that is no request was dropped");
        }
        request.acknowledge();
    }

    private static Payload payload(BytesMessage message) throws JMSException {
        byte[] body = new byte[(int) message.getBodyLength()];
        message.readBytes(body);
        return new Payload(message.getStringProperty(JmsLink.ID), body,
                Work.of(message.getStringProperty(JmsLink.WORK)));
    }

    private Message reply(Session session, Message request, Payload payload) throws JMSException {
        Reply reply = receiver.receive(JmsBinding.WAY, payload);
        MapMessage message = session.createMapMessage();
        message.setJMSCorrelationID(request.getJMSCorrelationID());
        message.setString("id", reply.id());
        message.setLong("bytes", reply.bytes());
        message.setLong("checksum", reply.checksum());
        message.setString("thread", reply.thread());
        message.setString("pool", reply.pool());
        message.setString("node", reply.node());
        return message;
    }

    private static void rest() {
        try {
            Thread.sleep(RETRY_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
