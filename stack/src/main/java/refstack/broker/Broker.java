package refstack.broker;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.activemq.artemis.api.core.QueueConfiguration;
import org.apache.activemq.artemis.api.core.RoutingType;
import org.apache.activemq.artemis.api.core.SimpleString;
import org.apache.activemq.artemis.core.config.Configuration;
import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.server.Queue;
import org.apache.activemq.artemis.core.settings.impl.AddressSettings;

/**
 * A broker with its journal on disk. Every send outside a transaction, and every commit, is
 * answered after the journal was forced to disk.
 */
public final class Broker implements AutoCloseable {

    /** Each broker of a JVM has a number, which is its address inside the JVM. */
    private static final AtomicInteger LAST = new AtomicInteger();

    /** Another broker has the same data: by default Artemis would wait for its end. */
    private static final long LOCK_TIMEOUT_MS = 5_000;

    private final String url;
    private final BrokerSettings settings;
    private final BrokerServer server;

    private Broker(String url, Path data, BrokerSettings settings) throws Exception {
        this.url = url;
        this.settings = settings;
        this.server = new BrokerServer(configuration(url, data, settings));
        AtomicReference<Exception> failure = new AtomicReference<>();
        server.registerActivationFailureListener(failure::set);
        server.start();
        if (failure.get() == null && server.waitForActivation(1, TimeUnit.MINUTES)) {
            return;
        }
        server.stop();
        throw new IllegalStateException("the broker did not start: " + (failure.get() == null
                ? "not ready within a minute" : failure.get().getMessage()), failure.get());
    }

    /** Starts a broker for clients of this JVM only. */
    public static Broker embedded(Path data, BrokerSettings settings) throws Exception {
        return new Broker("vm://" + LAST.incrementAndGet(), data, settings);
    }

    /** Starts a broker that listens on a port of an address of this machine. */
    static Broker listening(
            InetAddress address, int port, Path data, BrokerSettings settings) throws Exception {
        // Artemis would say it too, after its whole start and with a trace in the log.
        new ServerSocket(port, 1, address).close();
        String url = "tcp://" + address.getHostAddress() + ":" + port + "?protocols=CORE";
        return new Broker(url, data, settings);
    }

    private static Configuration configuration(String url, Path data, BrokerSettings settings)
            throws Exception {
        int record = settings.recordBytes();
        ConfigurationImpl configuration = new ConfigurationImpl();
        configuration.setName("refstack").setPersistenceEnabled(true).setSecurityEnabled(false)
                .setJMXManagementEnabled(false)
                .setJournalDirectory(data.resolve("journal").toString())
                .setBindingsDirectory(data.resolve("bindings").toString())
                .setLargeMessagesDirectory(data.resolve("large").toString())
                .setPagingDirectory(data.resolve("paging").toString())
                .setJournalLockAcquisitionTimeout(LOCK_TIMEOUT_MS)
                .setJournalType(settings.journalType())
                .setJournalSyncTransactional(true).setJournalSyncNonTransactional(true)
                .setJournalDatasync(true)
                .setJournalFileSize(Math.max(settings.journalFileBytes(), 2 * record))
                .setJournalBufferSize_NIO(
                        Math.max(configuration.getJournalBufferSize_NIO(), record))
                .setJournalBufferSize_AIO(
                        Math.max(configuration.getJournalBufferSize_AIO(), record))
                .setGlobalMaxSize(settings.globalMaxBytes())
                // A fairly full disk must not stop senders: a full one fails their writes.
                .setMaxDiskUsage(-1);
        configuration.addAcceptorConfiguration("clients", url);
        configuration.addAddressSetting("#", new AddressSettings()
                .setMaxSizeBytes(settings.queueMaxBytes())
                .setAddressFullMessagePolicy(settings.fullPolicy())
                .setRedeliveryDelay(settings.redeliveryDelayMs())
                .setMaxDeliveryAttempts(settings.maxDeliveries())
                .setDeadLetterAddress(SimpleString.of(BrokerSettings.DEAD))
                .setExpiryAddress(SimpleString.of(BrokerSettings.DEAD))
                .setAutoCreateQueues(false).setAutoCreateAddresses(false)
                .setAutoDeleteQueues(false).setAutoDeleteAddresses(false));
        for (String queue : settings.queues()) {
            configuration.addQueueConfiguration(durable(queue));
        }
        configuration.addQueueConfiguration(durable(BrokerSettings.DEAD));
        return configuration;
    }

    private static QueueConfiguration durable(String name) {
        return QueueConfiguration.of(name).setRoutingType(RoutingType.ANYCAST).setDurable(true);
    }

    /** Where clients connect. */
    public String url() {
        return url;
    }

    public boolean isActive() {
        return server.isActive();
    }

    BrokerSettings settings() {
        return settings;
    }

    BrokerServer server() {
        return server;
    }

    /** The queue of that name, or null while the broker starts or stops. */
    Queue queue(String name) {
        return server.locateQueue(SimpleString.of(name));
    }

    /** Stops; what is in the queues stays on disk. */
    @Override
    public void close() throws Exception {
        server.stop();
    }
}
