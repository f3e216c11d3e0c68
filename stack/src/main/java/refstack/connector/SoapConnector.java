package refstack.connector;

import jakarta.xml.ws.WebServiceException;
import java.net.URI;
import org.apache.cxf.Bus;
import org.apache.cxf.transports.http.configuration.ConnectionType;
import org.apache.cxf.transports.http.configuration.HTTPClientPolicy;
import refstack.transport.CallFailure;
import refstack.transport.Http;
import refstack.transport.Soap;

/**
 * A stateless call over SOAP: each opens a connection of its own ({@code Connection: close}) and
 * brings name and password. The proxy is made once, as parsing the service's description anew would
 * be no part of a call in any product.
 */
class SoapConnector {

    private final SoapBackEnd port;

    SoapConnector(Bus bus, URI backend, ConnectorProperties properties) {
        // The library's usual client is Java's, which keeps connections whatever the policy says.
        bus.setProperty("force.urlconnection.http.conduit", true);
        HTTPClientPolicy policy =
                Soap.policy(properties.acquireTimeout(), properties.callTimeout());
        policy.setConnection(ConnectionType.CLOSE);
        String address = Http.at(backend, "/soap" + SoapServer.PATH).toString();
        this.port = Soap.client(bus, SoapBackEnd.class, address, policy, login -> {
            login.setUsername(properties.user());
            login.setPassword(properties.password());
        });
    }

    StoredReceipt send(Message message) {
        try {
            return port.process(message.id(), message.body()).plain();
        } catch (WebServiceException e) {
            throw CallFailure.of("The back end", e);
        }
    }
}
