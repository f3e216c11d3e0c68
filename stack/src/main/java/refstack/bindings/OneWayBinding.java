package refstack.bindings;

import refstack.core.BackendTimeoutException;
import refstack.core.BackendUnavailableException;

/** A binding whose queue can also be used without waiting for the reply. */
interface OneWayBinding extends Binding {

    /**
     * Queues a payload, and waits for a place in the queue if it is full. The receiver takes it
     * later.
     *
     * @throws PoolFullException           if no place became free in time
     * @throws BackendTimeoutException     if it cannot be said in time that it is queued
     * @throws BackendUnavailableException if the queue is away
     */
    void send(Payload payload);
}
