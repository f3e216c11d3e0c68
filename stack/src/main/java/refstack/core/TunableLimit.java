package refstack.core;

/** A number that limits what a node does, and can be changed while the node runs. */
public interface TunableLimit {

    /** Name of the limit. */
    String name();

    /** What it is now. */
    int value();

    /**
     * Sets another value; what waits or runs is finished.
     *
     * @throws IllegalArgumentException if the limit cannot have it; the message says why
     */
    void set(int value);
}
