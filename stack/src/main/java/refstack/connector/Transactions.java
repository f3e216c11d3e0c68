package refstack.connector;

import com.arjuna.ats.arjuna.common.CoreEnvironmentBeanException;
import com.arjuna.ats.arjuna.common.ObjectStoreEnvironmentBean;
import com.arjuna.ats.arjuna.common.arjPropertyManager;
import com.arjuna.ats.arjuna.common.recoveryPropertyManager;
import com.arjuna.ats.arjuna.recovery.RecoveryManager;
import com.arjuna.ats.arjuna.recovery.RecoveryModule;
import com.arjuna.ats.internal.arjuna.recovery.AtomicActionRecoveryModule;
import com.arjuna.ats.internal.jta.recovery.arjunacore.JTAActionStatusServiceXAResourceOrphanFilter;
import com.arjuna.ats.internal.jta.recovery.arjunacore.JTANodeNameXAResourceOrphanFilter;
import com.arjuna.ats.internal.jta.recovery.arjunacore.JTATransactionLogXAResourceOrphanFilter;
import com.arjuna.ats.internal.jta.recovery.arjunacore.XARecoveryModule;
import com.arjuna.ats.jta.common.JTAEnvironmentBean;
import com.arjuna.ats.jta.common.jtaPropertyManager;
import com.arjuna.ats.jta.recovery.XAResourceRecoveryHelper;
import com.arjuna.common.internal.util.propertyservice.BeanPopulator;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import jakarta.transaction.TransactionManager;
import java.nio.file.Path;
import java.util.List;
import javax.transaction.xa.XAResource;

/**
 * The transaction manager of this JVM, which can have but one: its log is forced to disk in every
 * transaction, and branches that a crash left undecided are ended by what the log says. A branch of
 * this node of which the log says nothing was never decided and is rolled back.
 */
class Transactions implements AutoCloseable {

    private static final int RECOVERY_SECONDS = 3;
    private static final int ORPHAN_MILLIS = 5000;

    private final RpcConnection connection;
    private final XARecoveryModule branches;
    private final RecoveryManager recovery;
    private final Helper helper;

    /**
     * Sets the transaction manager up and starts its recovery.
     *
     * @param node       the node's name, unique in the deployment, at most 28 bytes
     * @param log        folder of the log
     * @param connection to the back end, for the recovery alone: it neither waits for a pool that
     *                   a load keeps busy nor takes from it
     */
    Transactions(String node, Path log, RpcConnection connection, MeterRegistry registry) {
        this.connection = connection;
        configure(node, log);
        FunctionCounter.builder("refstack.connector.log.forces", this,
                unused -> CountingLogStore.forced()).tag("way", Connector.LOGGED)
                .register(registry);
        this.helper = new Helper(new RecoveredBranches(connection, registry));
        this.recovery = RecoveryManager.manager(RecoveryManager.INDIRECT_MANAGEMENT);
        this.branches = branchModule(recovery);
        branches.addXAResourceRecoveryHelper(helper);
        recovery.startRecoveryManagerThread();
    }

    /** Begins and ends transactions of the calling thread. */
    TransactionManager manager() {
        return com.arjuna.ats.jta.TransactionManager.transactionManager();
    }

    @Override
    public void close() {
        branches.removeXAResourceRecoveryHelper(helper);
        connection.close();
        recovery.terminate(false);
    }

    private static void configure(String node, Path log) {
        try {
            arjPropertyManager.getCoreEnvironmentBean().setNodeIdentifier(node);
        } catch (CoreEnvironmentBeanException e) {
            throw new IllegalArgumentException("refstack.node.name must have 1 to 28 bytes", e);
        }
        // With one participant the log could be left out; a container's resource adapter that is
        // to take part in transactions with others keeps it.
        arjPropertyManager.getCoordinatorEnvironmentBean().setCommitOnePhase(false);
        arjPropertyManager.getCoordinatorEnvironmentBean()
                .setDefaultTimeout(BranchResource.TIMEOUT_SECONDS);
        for (String name : new String[]{null, "communicationStore", "stateStore"}) {
            ObjectStoreEnvironmentBean store = name == null
                    ? BeanPopulator.getDefaultInstance(ObjectStoreEnvironmentBean.class)
                    : BeanPopulator.getNamedInstance(ObjectStoreEnvironmentBean.class, name);
            store.setObjectStoreDir(log.toString());
            store.setObjectStoreType(CountingLogStore.class.getName());
        }
        JTAEnvironmentBean transactions = jtaPropertyManager.getJTAEnvironmentBean();
        transactions.setXaRecoveryNodes(List.of(node));
        transactions.setOrphanSafetyInterval(ORPHAN_MILLIS);
        // The last one keeps the recovery's hands off what this JVM is just about to decide.
        transactions.setXaResourceOrphanFilterClassNames(List.of(
                JTATransactionLogXAResourceOrphanFilter.class.getName(),
                JTANodeNameXAResourceOrphanFilter.class.getName(),
                JTAActionStatusServiceXAResourceOrphanFilter.class.getName()));
        var settings = recoveryPropertyManager.getRecoveryEnvironmentBean();
        settings.setPeriodicRecoveryPeriod(RECOVERY_SECONDS);
        settings.setRecoveryBackoffPeriod(1);
        settings.setRecoveryListener(false);
        settings.setRecoveryModuleClassNames(List.of(
                AtomicActionRecoveryModule.class.getName(), XARecoveryModule.class.getName()));
    }

    private static XARecoveryModule branchModule(RecoveryManager recovery) {
        for (RecoveryModule module : recovery.getModules()) {
            if (module instanceof XARecoveryModule branches) {
                return branches;
            }
        }
        throw new IllegalStateException("the recovery has no module for branches");
    }

    /** Tells the recovery where branches may have been left. */
    private record Helper(XAResource backEnd) implements XAResourceRecoveryHelper {

        @Override
        public boolean initialise(String parameter) {
            return true;
        }

        @Override
        public XAResource[] getXAResources() {
            return new XAResource[]{backEnd};
        }
    }
}
