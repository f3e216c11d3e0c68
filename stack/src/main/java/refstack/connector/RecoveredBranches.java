package refstack.connector;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import javax.transaction.xa.XAException;
import javax.transaction.xa.Xid;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The back end as the recovery sees it: what it ends is counted and logged. */
class RecoveredBranches extends BranchResource {

    private static final Logger LOGGER = LoggerFactory.getLogger(RecoveredBranches.class);

    private final Counter committed;
    private final Counter rolledBack;

    RecoveredBranches(RpcConnection connection, MeterRegistry registry) {
        super(connection);
        this.committed = counter(registry, "committed");
        this.rolledBack = counter(registry, "rolled-back");
    }

    private static Counter counter(MeterRegistry registry, String outcome) {
        return Counter.builder("refstack.connector.recovered").tag("outcome", outcome)
                .register(registry);
    }

    @Override
    public void commit(Xid xid, boolean onePhase) throws XAException {
        super.commit(xid, onePhase);
        committed.increment();
        LOGGER.info("the recovery committed branch {}", nameOf(xid));
    }

    @Override
    public void rollback(Xid xid) throws XAException {
        super.rollback(xid);
        rolledBack.increment();
        LOGGER.info("the recovery rolled branch {} back", nameOf(xid));
    }
}
