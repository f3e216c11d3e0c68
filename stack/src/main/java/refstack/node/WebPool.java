package refstack.node;

import org.apache.catalina.connector.Connector;
import org.apache.coyote.AbstractProtocol;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.stereotype.Component;
import refstack.core.PoolLimits;
import refstack.core.TunablePool;

/** The worker threads of the main connector, made fewer or more while the node runs. */
@Component
class WebPool implements TunablePool, WebServerFactoryCustomizer<TomcatServletWebServerFactory> {

    private static final int MOST_SPARE = 4;

    private volatile Connector connector;

    @Override
    public void customize(TomcatServletWebServerFactory factory) {
        factory.addConnectorCustomizers(made -> connector = made);
    }

    @Override
    public String name() {
        return "web";
    }

    /** Unlimited if requests are served by virtual threads. */
    @Override
    public PoolLimits limits() {
        return PoolLimits.of(Math.max(0, protocol().getMaxThreads()));
    }

    @Override
    public synchronized void resize(PoolLimits limits) {
        AbstractProtocol<?> protocol = protocol();
        if (protocol.getMaxThreads() < 1) {
            throw new IllegalArgumentException("web has virtual threads, and no limit");
        }
        if (limits.isUnlimited() || !limits.idle().isZero()) {
            throw new IllegalArgumentException("web takes a number of threads above 0 only");
        }
        int spare = Math.min(MOST_SPARE, limits.threads());
        if (limits.threads() > protocol.getMaxThreads()) {
            protocol.setMaxThreads(limits.threads());
            protocol.setMinSpareThreads(spare);
        } else {
            protocol.setMinSpareThreads(spare);
            protocol.setMaxThreads(limits.threads());
        }
    }

    private AbstractProtocol<?> protocol() {
        return (AbstractProtocol<?>) connector.getProtocolHandler();
    }
}
