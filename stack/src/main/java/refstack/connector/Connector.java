package refstack.connector;

import java.util.List;
import java.util.function.Function;
import refstack.core.BackendTimeoutException;
import refstack.core.BackendUnavailableException;

/**
 * One way to call the back end: one call is one message, answered when it is stored.
 *
 * @param way  its name, as in the path of a request
 * @param call hands a message over; fails with {@link BackendUnavailableException} if the back end
 *             is away or refused the call, with {@link BackendTimeoutException} if it, or a
 *             connection to it, was not there in time
 */
record Connector(String way, Function<Message, StoredReceipt> call) {

    static final String SOAP = "soap";
    static final String RPC = "rpc";
    static final String LOGGED = "logged";

    /** The names of all ways. */
    static final List<String> WAYS = List.of(SOAP, RPC, LOGGED);
}
