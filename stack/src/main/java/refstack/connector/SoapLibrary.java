package refstack.connector;

import org.apache.cxf.bus.spring.SpringBus;
import org.apache.cxf.interceptor.Fault;
import org.apache.cxf.logging.FaultListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The SOAP library as both sides use it. */
final class SoapLibrary {

    private static final Logger LOGGER = LoggerFactory.getLogger(SoapLibrary.class);

    private SoapLibrary() {
    }

    /**
     * Makes a bus whose failures are told by their answers, not by stack traces in the log, and
     * whose clients use a connection as they are told: the library's usual one is Java's HTTP
     * client, which keeps connections whatever the policy says.
     */
    static SpringBus bus() {
        SpringBus bus = new SpringBus();
        bus.setProperty("force.urlconnection.http.conduit", true);
        FaultListener quiet = (failure, description, message) -> {
            if (failure instanceof Fault fault && fault.getCause() instanceof Error) {
                LOGGER.error("{}", description, failure);
            } else {
                LOGGER.debug("{}: {}", description, failure.toString());
            }
            return false;
        };
        bus.setProperty(FaultListener.class.getName(), quiet);
        return bus;
    }
}
