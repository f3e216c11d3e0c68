package refstack.core;

/** A setting is wrong; the message names it and says what was found and what is expected. */
public class WrongSettingException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public WrongSettingException(String message) {
        super(message);
    }

    /** One whose value may be shown; {@code expected} goes on from "it". */
    public static WrongSettingException of(String name, Object found, String expected) {
        return new WrongSettingException(name + " is '" + found + "': it " + expected);
    }
}
