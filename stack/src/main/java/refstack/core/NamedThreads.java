package refstack.core;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/** Threads that are named after what they are for, and let the process end. */
public final class NamedThreads {

    private NamedThreads() {
    }

    /** Numbers them from 1: {@code name-1}, {@code name-2}. */
    public static ThreadFactory of(String name) {
        AtomicInteger number = new AtomicInteger();
        return work -> {
            Thread thread = new Thread(work, name + "-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }
}
