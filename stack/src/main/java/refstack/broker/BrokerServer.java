package refstack.broker;

import org.apache.activemq.artemis.core.config.Configuration;
import org.apache.activemq.artemis.core.io.IOCriticalErrorListener;
import org.apache.activemq.artemis.core.journal.Journal;
import org.apache.activemq.artemis.core.persistence.StorageManager;
import org.apache.activemq.artemis.core.persistence.impl.journal.JournalStorageManager;
import org.apache.activemq.artemis.core.server.JournalType;
import org.apache.activemq.artemis.core.server.impl.ActiveMQServerImpl;

/** Artemis with a journal whose syncs are counted. */
final class BrokerServer extends ActiveMQServerImpl {

    private volatile Storage storage;

    BrokerServer(Configuration configuration) {
        super(configuration);
    }

    /** The counts of the journal's syncs; null before the start and for another journal type. */
    CountedFiles journalFiles() {
        Storage current = storage;
        return current == null ? null : current.files();
    }

    @Override
    protected StorageManager createStorageManager() {
        storage = new Storage();
        getCriticalAnalyzer().add(storage);
        return storage;
    }

    private final class Storage extends JournalStorageManager {

        Storage() {
            super(getConfiguration(), BrokerServer.this.getCriticalAnalyzer(),
                    BrokerServer.this.executorFactory, BrokerServer.this.scheduledPool,
                    BrokerServer.this.ioExecutorFactory,
                    BrokerServer.this.ioCriticalErrorListener);
        }

        CountedFiles files() {
            return journalFF instanceof CountedFiles counted ? counted : null;
        }

        /** Called while the constructor of the super class runs: after its choice of files. */
        @Override
        protected Journal createMessageJournal(Configuration configuration,
                IOCriticalErrorListener onError, int fileSize) {
            if (configuration.getJournalType() == JournalType.NIO) {
                journalFF = new CountedFiles(configuration, onError, getCriticalAnalyzer());
            }
            return super.createMessageJournal(configuration, onError, fileSize);
        }
    }
}
