package refstack.core;

/** A pool of threads whose limits can be changed while the node runs. */
public interface TunablePool {

    /** Name of the pool, as its threads and its metrics have it. */
    String name();

    PoolLimits limits();

    /**
     * Sets new limits; what waits or runs is finished.
     *
     * @throws IllegalArgumentException if this pool cannot have them; the message says why
     */
    void resize(PoolLimits limits);
}
