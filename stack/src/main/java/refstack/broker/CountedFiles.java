package refstack.broker;

import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.util.concurrent.atomic.LongAdder;
import org.apache.activemq.artemis.core.config.Configuration;
import org.apache.activemq.artemis.core.io.IOCriticalErrorListener;
import org.apache.activemq.artemis.core.io.SequentialFile;
import org.apache.activemq.artemis.core.io.nio.NIOSequentialFile;
import org.apache.activemq.artemis.core.io.nio.NIOSequentialFileFactory;
import org.apache.activemq.artemis.utils.critical.CriticalAnalyzer;

/**
 * Files of the message journal that count how often they are forced to disk and for how long.
 * Artemis itself does not tell: here every {@link FileChannel#force} of the journal passes.
 */
final class CountedFiles extends NIOSequentialFileFactory {

    private final LongAdder syncs = new LongAdder();
    private final LongAdder nanos = new LongAdder();

    /** Files as Artemis itself would configure them for journal type NIO. */
    CountedFiles(Configuration configuration, IOCriticalErrorListener onError,
            CriticalAnalyzer analyzer) {
        super(configuration.getJournalLocation(), true, configuration.getJournalBufferSize_NIO(),
                configuration.getJournalBufferTimeout_NIO(), configuration.getJournalMaxIO_NIO(),
                configuration.isLogJournalWriteRate(), onError, analyzer);
        if (configuration.getJournalDeviceBlockSize() != null) {
            setAlignment(configuration.getJournalDeviceBlockSize());
        }
        setDatasync(configuration.isJournalDatasync());
    }

    long syncs() {
        return syncs.sum();
    }

    double seconds() {
        return nanos.sum() / 1e9;
    }

    @Override
    public SequentialFile createSequentialFile(String fileName) {
        return new CountedFile(fileName);
    }

    private final class CountedFile extends NIOSequentialFile {

        CountedFile(String name) {
            super(CountedFiles.this, journalDir, name, CountedFiles.this.maxIO);
        }

        @Override
        protected void syncChannel(FileChannel channel) throws IOException {
            long begin = System.nanoTime();
            super.syncChannel(channel);
            syncs.increment();
            nanos.add(System.nanoTime() - begin);
        }

        @Override
        public SequentialFile cloneFile() {
            return new CountedFile(getFileName());
        }
    }
}
