package refstack.bindings;

import refstack.core.BackendTimeoutException;
import refstack.core.BackendUnavailableException;

/** One way from sender to receiver and back; callers may be any number of threads. */
interface Binding {

    /** Name of the way, as in the path of a request. */
    String way();

    /**
     * Hands a payload over and waits for the reply.
     *
     * @throws PoolFullException           if a pool on the way takes no more
     * @throws BackendTimeoutException     if no reply came in time
     * @throws BackendUnavailableException if the receiver, or what is between, is away
     */
    Reply call(Payload payload);
}
