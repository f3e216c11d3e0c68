package refstack.core;

import java.util.Collection;

/** There is no way of that name to do it; over HTTP this is status 404. */
public class UnknownWayException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public UnknownWayException(Collection<String> known) {
        super("There is no such way; there are " + String.join(", ", known) + ".");
    }
}
