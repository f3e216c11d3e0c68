package refstack.broker.client;

import jakarta.jms.ConnectionFactory;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import refstack.core.queue.QueueConsumers;
import refstack.core.queue.QueueHandler;

/** Consumers of one queue with one handler. */
final class Consumers implements QueueConsumers {

    final String name;
    final String queue;
    final ConnectionFactory factory;
    final QueueHandler handler;
    final Duration retryDelay;
    final AtomicInteger busy = new AtomicInteger();
    final LongAdder failures = new LongAdder();

    private final Deque<Consumer> running = new ArrayDeque<>();
    private volatile int size;
    private int started;

    Consumers(String name, String queue, ConnectionFactory factory, QueueHandler handler,
            Duration retryDelay) {
        this.name = name;
        this.queue = queue;
        this.factory = factory;
        this.handler = handler;
        this.retryDelay = retryDelay;
    }

    @Override
    public synchronized void resize(int count) {
        if (count < 0) {
            throw new IllegalArgumentException("consumers must be 0 or more");
        }
        size = count;
        while (running.size() < count) {
            Consumer consumer = new Consumer(this, ++started);
            running.push(consumer);
            consumer.start();
        }
        List<Consumer> ending = new ArrayList<>();
        while (running.size() > count) {
            ending.add(running.pop());
        }
        ending.forEach(Consumer::end);
        ending.forEach(Consumer::await);
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public int busy() {
        return busy.get();
    }

    @Override
    public long failures() {
        return failures.sum();
    }

    @Override
    public void close() {
        resize(0);
    }
}
