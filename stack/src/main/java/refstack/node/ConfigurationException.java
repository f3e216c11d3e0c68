package refstack.node;

/** A setting is wrong; the message names it and says what is expected. */
class ConfigurationException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    ConfigurationException(String message) {
        super(message);
    }
}
