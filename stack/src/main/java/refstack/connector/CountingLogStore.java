package refstack.connector;

import com.arjuna.ats.arjuna.common.ObjectStoreEnvironmentBean;
import com.arjuna.ats.arjuna.common.Uid;
import com.arjuna.ats.arjuna.exceptions.ObjectStoreException;
import com.arjuna.ats.arjuna.state.OutputObjectState;
import com.arjuna.ats.internal.arjuna.objectstore.ShadowNoFileLockStore;
import java.util.concurrent.atomic.LongAdder;

/**
 * The transaction manager's log in files, each record forced to disk, counted. Public and with a
 * static count, since the transaction manager makes it by its name.
 */
public class CountingLogStore extends ShadowNoFileLockStore {

    private static final LongAdder FORCED = new LongAdder();

    /** Made by the transaction manager. */
    public CountingLogStore(ObjectStoreEnvironmentBean settings) throws ObjectStoreException {
        super(settings);
    }

    /** Records that were written and forced to disk since this JVM started. */
    static double forced() {
        return FORCED.sum();
    }

    @Override
    public boolean write_committed(Uid id, String type, OutputObjectState state)
            throws ObjectStoreException {
        boolean isWritten = super.write_committed(id, type, state);
        if (isWritten) {
            FORCED.increment();
        }
        return isWritten;
    }
}
