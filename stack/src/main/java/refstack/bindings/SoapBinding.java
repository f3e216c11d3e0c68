package refstack.bindings;

import jakarta.xml.ws.WebServiceException;
import java.net.SocketTimeoutException;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import org.apache.cxf.Bus;
import org.apache.cxf.frontend.ClientProxy;
import org.apache.cxf.jaxws.JaxWsProxyFactoryBean;
import org.apache.cxf.transport.http.HTTPConduit;
import org.apache.cxf.transports.http.configuration.HTTPClientPolicy;
import refstack.core.BackendTimeoutException;
import refstack.core.BackendUnavailableException;

/** A SOAP call over a connection that stays open; the payload travels as base64 text. */
class SoapBinding implements Binding {

    static final String WAY = "soap";

    private final Bus bus;
    private final ReceiverAddress address;
    private final Duration timeout;
    private volatile SoapReceiver port;

    SoapBinding(Bus bus, ReceiverAddress address, Duration timeout) {
        this.bus = bus;
        this.address = address;
        this.timeout = timeout;
    }

    @Override
    public String way() {
        return WAY;
    }

    @Override
    public Reply call(Payload payload) {
        try {
            return port().receive(payload.id(), payload.body(), payload.work().text())
                    .plain();
        } catch (WebServiceException e) {
            for (Throwable cause = e; cause != null; cause = cause.getCause()) {
                if (cause instanceof SocketTimeoutException
                        || cause instanceof HttpTimeoutException) {
                    throw new BackendTimeoutException("The receiver did not answer in time.", e);
                }
            }
            throw new BackendUnavailableException("The receiver cannot be reached.", e);
        }
    }

    /** The proxy, made at the first call. */
    private SoapReceiver port() {
        if (port == null) {
            synchronized (this) {
                if (port == null) {
                    port = newPort();
                }
            }
        }
        return port;
    }

    private SoapReceiver newPort() {
        JaxWsProxyFactoryBean factory = new JaxWsProxyFactoryBean();
        factory.setBus(bus);
        factory.setServiceClass(SoapReceiver.class);
        factory.setAddress(address.at(SoapEndpoint.SERVLET + SoapEndpoint.PATH).toString());
        SoapReceiver made = factory.create(SoapReceiver.class);
        HTTPClientPolicy policy = new HTTPClientPolicy();
        policy.setAllowChunking(false);
        policy.setConnectionTimeout(timeout.toMillis());
        policy.setReceiveTimeout(timeout.toMillis());
        ((HTTPConduit) ClientProxy.getClient(made).getConduit()).setClient(policy);
        return made;
    }
}
