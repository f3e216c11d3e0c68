package refstack.connector;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import jakarta.xml.ws.WebServiceException;
import java.net.SocketTimeoutException;
import java.net.URI;
import org.apache.cxf.Bus;
import org.apache.cxf.frontend.ClientProxy;
import org.apache.cxf.jaxws.JaxWsProxyFactoryBean;
import org.apache.cxf.transport.http.HTTPConduit;
import org.apache.cxf.transport.http.HTTPException;
import org.apache.cxf.transports.http.configuration.ConnectionType;
import org.apache.cxf.transports.http.configuration.HTTPClientPolicy;
import refstack.core.BackendTimeoutException;
import refstack.core.BackendUnavailableException;

/**
 * A stateless call over SOAP: each opens a connection of its own ({@code Connection: close}) and
 * brings name and password. The proxy is made once, as parsing the service's description anew would
 * be no part of a call in any product; it holds nothing of a call, so all threads share it.
 */
class SoapConnector implements Connector {

    static final String WAY = "soap";

    private static final int UNAUTHORIZED = 401;

    private final SoapBackEnd port;
    private final Counter sent;

    SoapConnector(Bus bus, URI backend, ConnectorProperties properties, MeterRegistry registry) {
        JaxWsProxyFactoryBean factory = new JaxWsProxyFactoryBean();
        factory.setBus(bus);
        factory.setServiceClass(SoapBackEnd.class);
        factory.setAddress(backend.toString().replaceAll("/+$", "") + "/soap" + SoapServer.PATH);
        factory.setUsername(properties.user());
        factory.setPassword(properties.password());
        this.port = factory.create(SoapBackEnd.class);
        HTTPConduit conduit = (HTTPConduit) ClientProxy.getClient(port).getConduit();
        HTTPClientPolicy policy = new HTTPClientPolicy();
        policy.setConnection(ConnectionType.CLOSE);
        policy.setAllowChunking(false);
        policy.setConnectionTimeout(properties.acquireTimeout().toMillis());
        policy.setReceiveTimeout(properties.callTimeout().toMillis());
        conduit.setClient(policy);
        this.sent = Connector.sent(WAY, registry);
    }

    @Override
    public String way() {
        return WAY;
    }

    @Override
    public StoredReceipt send(Message message) {
        try {
            StoredReceipt receipt = port.process(message.id(), message.body()).plain();
            sent.increment();
            return receipt;
        } catch (WebServiceException e) {
            throw translated(e);
        }
    }

    private static RuntimeException translated(WebServiceException failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof SocketTimeoutException) {
                return new BackendTimeoutException("The back end did not answer in time.", failure);
            }
            if (cause instanceof HTTPException answer) {
                return new BackendUnavailableException(answer.getResponseCode() == UNAUTHORIZED
                        ? "The back end refused name and password."
                        : "The back end answered with status " + answer.getResponseCode() + ".",
                        failure);
            }
            if (cause instanceof java.io.IOException) {
                return new BackendUnavailableException("The back end cannot be reached.", failure);
            }
        }
        return new BackendUnavailableException("The back end did not do what it was asked for.",
                failure);
    }
}
