package refstack.business;

import java.util.function.IntConsumer;
import refstack.core.TunableLimit;

/** How many of the sessions that live in the database a node keeps in memory besides. */
class SessionsInMemory implements TunableLimit {

    private int value;
    private IntConsumer memory = most -> { };

    SessionsInMemory(int value) {
        this.value = value;
    }

    /** Tells the memory each value that is set later; it is to begin anew with it. */
    void tell(IntConsumer other) {
        this.memory = other;
    }

    @Override
    public String name() {
        return "sessions_in_memory";
    }

    @Override
    public synchronized int value() {
        return value;
    }

    @Override
    public synchronized void set(int other) {
        if (other < 0) {
            throw new IllegalArgumentException(name() + " takes 0 or more");
        }
        memory.accept(other);
        value = other;
    }
}
