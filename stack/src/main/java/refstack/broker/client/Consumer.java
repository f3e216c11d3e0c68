package refstack.broker.client;

import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread that takes one message after the other: receive, handle, commit the receipt; or roll
 * it back, rest, and go on. Connects again after a failure. One line in the log tells the first of
 * several failures in a row.
 */
final class Consumer {

    private static final Logger LOGGER = LoggerFactory.getLogger(Consumer.class);
    private static final long POLL_MS = 200;
    private static final long END_MS = 15_000;

    private final Consumers group;
    private final Thread thread;
    private final CountDownLatch ending = new CountDownLatch(1);
    private boolean hasFailed;

    Consumer(Consumers group, int number) {
        this.group = group;
        this.thread = new Thread(this::run, group.name + "-" + number);
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    /** Asks the thread to end after the message that it works on. */
    void end() {
        ending.countDown();
    }

    /** Waits until it has ended. */
    void await() {
        try {
            thread.join(END_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean isEnding() {
        return ending.getCount() == 0;
    }

    private void run() {
        while (!isEnding()) {
            try (Connection connection = group.factory.createConnection();
                    Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
                    MessageConsumer consumer =
                            session.createConsumer(session.createQueue(group.queue))) {
                connection.start();
                work(session, consumer);
            } catch (JMSException | RuntimeException e) {
                tell("no connection to the broker", e);
                rest();
            }
        }
    }

    private void work(Session session, MessageConsumer consumer) throws JMSException {
        while (!isEnding()) {
            Message message = consumer.receive(POLL_MS);
            if (message == null) {
                continue;
            }
            group.busy.incrementAndGet();
            boolean isDone;
            try {
                isDone = handle(message);
            } finally {
                group.busy.decrementAndGet();
            }
            if (isDone) {
                session.commit();
                hasFailed = false;
            } else {
                session.rollback();
                rest();
            }
        }
    }

    private boolean handle(Message message) {
        try {
            group.handler.handle(JmsQueues.message(message));
            return true;
        } catch (Exception e) {
            group.failures.increment();
            tell("a message goes back", e);
            return false;
        }
    }

    private void tell(String what, Exception failure) {
        if (!hasFailed && !isEnding()) {
            LOGGER.warn("{}: {}: {}", thread.getName(), what,
                    String.valueOf(failure.getMessage()).replaceAll("\\s*\\R\\s*", " "));
        }
        hasFailed = true;
    }

    private void rest() {
        try {
            ending.await(group.retryDelay.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            ending.countDown();
        }
    }
}
