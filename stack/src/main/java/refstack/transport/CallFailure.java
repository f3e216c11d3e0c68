package refstack.transport;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketTimeoutException;
import java.net.http.HttpTimeoutException;
import java.util.List;
import java.util.stream.Stream;
import org.apache.cxf.transport.http.HTTPException;
import org.apache.hc.core5.http.ConnectionRequestTimeoutException;
import refstack.core.BackendTimeoutException;
import refstack.core.BackendUnavailableException;

/** What the failure of a call means, whichever transport and library carried it. */
public final class CallFailure {

    private static final int UNAUTHORIZED = 401;

    private CallFailure() {
    }

    /**
     * The failure in words of the caller: a {@link BackendTimeoutException} if a time ran out
     * anywhere on the way, an {@link IllegalArgumentException} if the other side refused what it
     * was handed, a {@link BackendUnavailableException} for all else.
     *
     * @param who begins the message, such as {@code The back end}
     */
    public static RuntimeException of(String who, Exception failure) {
        List<Throwable> causes =
                Stream.<Throwable>iterate(failure, c -> c != null, Throwable::getCause).toList();
        if (causes.stream().anyMatch(CallFailure::isTimeout)) {
            return new BackendTimeoutException(who + " did not answer in time.", failure);
        }
        for (Throwable cause : causes) {
            if (cause instanceof StatusRuntimeException answer
                    && answer.getStatus().getCode() == Status.Code.INVALID_ARGUMENT) {
                return new IllegalArgumentException(answer.getStatus().getDescription());
            }
            String words = words(cause);
            if (words != null) {
                return new BackendUnavailableException(who + words, failure);
            }
        }
        return new BackendUnavailableException(who + " did not do what it was asked for.", failure);
    }

    private static boolean isTimeout(Throwable cause) {
        return cause instanceof SocketTimeoutException || cause instanceof HttpTimeoutException
                || cause instanceof ConnectionRequestTimeoutException
                || cause instanceof StatusRuntimeException answer
                && answer.getStatus().getCode() == Status.Code.DEADLINE_EXCEEDED;
    }

    private static String words(Throwable cause) {
        if (cause instanceof StatusRuntimeException answer) {
            return switch (answer.getStatus().getCode()) {
                case UNAUTHENTICATED -> " refused name and password.";
                case ABORTED -> " did not do what it was asked for.";
                default -> " cannot be reached.";
            };
        }
        if (cause instanceof HTTPException answer) {
            return answer.getResponseCode() == UNAUTHORIZED ? " refused name and password."
                    : " answered with status " + answer.getResponseCode() + ".";
        }
        if (cause instanceof InterruptedIOException) {
            return " was not waited for: the node is being stopped.";
        }
        return cause instanceof IOException ? " cannot be reached." : null;
    }
}
