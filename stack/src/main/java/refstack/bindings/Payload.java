package refstack.bindings;

import java.io.Serializable;

/**
 * What is sent.
 *
 * @param id   chosen by the sender
 * @param body its bytes, which nobody changes
 * @param work what is to be done with it
 */
record Payload(String id, byte[] body, Work work) implements Serializable {

    /** A payload that is only added up. */
    Payload(String id, byte[] body) {
        this(id, body, Work.LEAST);
    }
}
