package refstack.bindings;

import java.io.IOException;
import java.net.ServerSocket;
import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;
import org.apache.activemq.artemis.core.settings.impl.AddressSettings;

/** A broker in memory that makes no queue by itself. */
public final class TestBroker implements AutoCloseable {

    private final EmbeddedActiveMQ server = new EmbeddedActiveMQ();
    private final String url;

    public TestBroker() throws Exception {
        this("tcp://127.0.0.1:" + freePort());
    }

    /** At an address that is known. */
    public TestBroker(String url) throws Exception {
        this.url = url;
        ConfigurationImpl configuration = new ConfigurationImpl();
        configuration.setPersistenceEnabled(false).setSecurityEnabled(false)
                .setJMXManagementEnabled(false);
        configuration.addAcceptorConfiguration("clients", url);
        configuration.addAddressSetting("#", new AddressSettings()
                .setAutoCreateQueues(false).setAutoCreateAddresses(false));
        server.setConfiguration(configuration);
        server.start();
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    public String url() {
        return url;
    }

    @Override
    public void close() throws Exception {
        server.stop();
    }
}
