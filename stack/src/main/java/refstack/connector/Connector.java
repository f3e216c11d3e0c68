package refstack.connector;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.List;
import refstack.core.BackendTimeoutException;
import refstack.core.BackendUnavailableException;

/** One way to call the back end: one call is one message, answered when it is stored. */
interface Connector {

    /** The names of all ways. */
    List<String> WAYS = List.of(SoapConnector.WAY, RpcConnector.WAY, LoggedConnector.WAY);

    /** Name of the way, as in the path of a request. */
    String way();

    /**
     * Hands a message over.
     *
     * @throws BackendUnavailableException if the back end is away or refused the call
     * @throws BackendTimeoutException     if it, or a connection to it, was not there in time
     */
    StoredReceipt send(Message message);

    /** The counter of a way's messages that the back end has stored. */
    static Counter sent(String way, MeterRegistry registry) {
        return Counter.builder("refstack.connector.sent").tag("way", way).register(registry);
    }
}
