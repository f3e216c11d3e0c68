package refstack.events;

/** A body is no event; the message says why, in a sentence for the agent's author. */
class MalformedEventException extends Exception {

    private static final long serialVersionUID = 1L;

    MalformedEventException(String message) {
        super(message);
    }
}
