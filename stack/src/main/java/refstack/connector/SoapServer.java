package refstack.connector;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import jakarta.jws.WebService;
import java.sql.SQLException;
import javax.xml.stream.XMLStreamException;
import org.apache.cxf.Bus;
import org.apache.cxf.configuration.security.AuthorizationPolicy;
import org.apache.cxf.interceptor.Fault;
import org.apache.cxf.jaxws.EndpointImpl;
import org.apache.cxf.message.Message;
import org.apache.cxf.phase.AbstractPhaseInterceptor;
import org.apache.cxf.phase.Phase;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The back end over SOAP: every call brings name and password, and no call leaves a session. */
@WebService(endpointInterface = "refstack.connector.SoapBackEnd",
        targetNamespace = SoapBackEnd.NAMESPACE, serviceName = "BackEndService")
class SoapServer implements SoapBackEnd {

    static final String PATH = "/back-end";

    private static final Logger LOGGER = LoggerFactory.getLogger(SoapServer.class);
    private static final int BAD_REQUEST = 400;
    private static final int UNAUTHORIZED = 401;

    private final BackEndSystem system;
    private final Counter calls;

    SoapServer(BackEndSystem system, MeterRegistry registry) {
        this.system = system;
        this.calls = Counter.builder("refstack.connector.calls").tag("way", Connector.SOAP)
                .register(registry);
    }

    /** Publishes the service on a bus. */
    static EndpointImpl publish(Bus bus, SoapServer server, Logins.Check logins) {
        EndpointImpl endpoint = new EndpointImpl(bus, server);
        endpoint.getInInterceptors().add(new PasswordCheck(logins));
        endpoint.getOutFaultInterceptors().add(new FaultStatus());
        endpoint.publish(PATH);
        return endpoint;
    }

    @Override
    public SoapReceipt process(String id, byte[] body) {
        calls.increment();
        try {
            return new SoapReceipt(system.store(
                    new refstack.connector.Message(id == null ? "" : id,
                            body == null ? new byte[0] : body), Connector.SOAP));
        } catch (IllegalArgumentException e) {
            Fault fault = new Fault(e);
            fault.setFaultCode(Fault.FAULT_CODE_CLIENT);
            throw fault;
        } catch (SQLException e) {
            LOGGER.warn("call not done: {}", BackEndSystem.inOneLine(e));
            throw new Fault(new IllegalStateException("The message was not stored."));
        }
    }

    /** Refuses a call whose name and password are not those of a user. */
    private static final class PasswordCheck extends AbstractPhaseInterceptor<Message> {

        private final Logins.Check logins;

        PasswordCheck(Logins.Check logins) {
            super(Phase.RECEIVE);
            this.logins = logins;
        }

        @Override
        public void handleMessage(Message message) {
            AuthorizationPolicy policy = message.get(AuthorizationPolicy.class);
            if (policy == null || policy.getUserName() == null || policy.getPassword() == null) {
                logins.refuse();
            } else if (logins.accepts(policy.getUserName(), policy.getPassword())) {
                return;
            }
            Fault fault = new Fault(new SecurityException("Wrong name or password."));
            fault.setStatusCode(UNAUTHORIZED);
            throw fault;
        }
    }

    /** Gives the caller's own faults status 400, as WS-I's profile asks for, instead of 500. */
    private static final class FaultStatus extends AbstractPhaseInterceptor<Message> {

        FaultStatus() {
            super(Phase.SETUP);
        }

        @Override
        public void handleMessage(Message message) {
            if (message.getContent(Exception.class) instanceof Fault fault
                    && fault.getStatusCode() != UNAUTHORIZED && isOfTheCaller(fault)) {
                fault.setStatusCode(BAD_REQUEST);
            }
        }

        private static boolean isOfTheCaller(Fault fault) {
            if (!Fault.FAULT_CODE_SERVER.equals(fault.getFaultCode())) {
                return true; // the client's, or of an unknown version of SOAP
            }
            for (Throwable cause = fault; cause != null; cause = cause.getCause()) {
                if (cause instanceof XMLStreamException) {
                    return true;
                }
            }
            return false;
        }
    }
}
