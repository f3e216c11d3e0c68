package refstack.core;

/** The text given as a flight key cannot be one; the message says which part and why. */
public class MalformedKeyException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    public MalformedKeyException(String message) {
        super(message);
    }
}
