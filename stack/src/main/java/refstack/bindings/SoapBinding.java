package refstack.bindings;

import jakarta.xml.ws.WebServiceException;
import java.time.Duration;
import java.util.function.Supplier;
import org.apache.cxf.Bus;
import org.springframework.util.function.SingletonSupplier;
import refstack.transport.CallFailure;
import refstack.transport.Soap;

/**
 * A SOAP call over a connection that stays open; the payload travels as base64 text.
 *
 * @param port the proxy, made at the first call
 */
record SoapBinding(Supplier<SoapReceiver> port) implements Binding {

    static final String WAY = "soap";

    static SoapBinding of(Bus bus, ReceiverAddress address, Duration timeout) {
        return new SoapBinding(SingletonSupplier.of(() -> Soap.client(bus, SoapReceiver.class,
                address.at(SoapEndpoint.SERVLET + SoapEndpoint.PATH).toString(),
                Soap.policy(timeout, timeout), login -> { })));
    }

    @Override
    public String way() {
        return WAY;
    }

    @Override
    public Reply call(Payload payload) {
        try {
            return port.get().receive(payload.id(), payload.body(), payload.work().text())
                    .plain();
        } catch (WebServiceException e) {
            throw CallFailure.of("The receiver", e);
        }
    }
}
