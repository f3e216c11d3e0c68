package refstack.node;

import org.apache.catalina.connector.Connector;
import org.apache.coyote.http11.AbstractHttp11Protocol;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.stereotype.Component;
import refstack.core.TunableLimit;

/**
 * How many requests a connection of the main connector serves before it is closed: 1 = none is kept,
 * -1 = no limit. It holds for connections that are opened later.
 */
@Component
class KeepAliveRequests
        implements TunableLimit, WebServerFactoryCustomizer<TomcatServletWebServerFactory> {

    private volatile Connector connector;

    @Override
    public void customize(TomcatServletWebServerFactory factory) {
        factory.addConnectorCustomizers(made -> connector = made);
    }

    @Override
    public String name() {
        return "keep_alive_requests";
    }

    @Override
    public int value() {
        return protocol().getMaxKeepAliveRequests();
    }

    @Override
    public void set(int value) {
        if (value != -1 && value < 1) {
            throw new IllegalArgumentException(name() + " takes a number above 0, or -1");
        }
        protocol().setMaxKeepAliveRequests(value);
    }

    private AbstractHttp11Protocol<?> protocol() {
        return (AbstractHttp11Protocol<?>) connector.getProtocolHandler();
    }
}
