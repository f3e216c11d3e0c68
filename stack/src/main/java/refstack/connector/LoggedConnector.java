package refstack.connector;

import jakarta.transaction.HeuristicMixedException;
import jakarta.transaction.HeuristicRollbackException;
import jakarta.transaction.NotSupportedException;
import jakarta.transaction.RollbackException;
import jakarta.transaction.SystemException;
import jakarta.transaction.TransactionManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import refstack.core.BackendUnavailableException;

/**
 * A container-managed connection: the call is a branch of a transaction, prepared and committed by
 * the transaction manager, which forces its log to disk between the two.
 */
class LoggedConnector {

    private static final Logger LOGGER = LoggerFactory.getLogger(LoggedConnector.class);

    private final RpcPool pool;
    private final TransactionManager transactions;

    LoggedConnector(RpcPool pool, TransactionManager transactions) {
        this.pool = pool;
        this.transactions = transactions;
    }

    StoredReceipt send(Message message) {
        return pool.lend(connection -> inTransaction(connection, message));
    }

    /**
     * Calls and commits. The back end may be lost after all is prepared and logged: then the
     * message is as good as stored, the manager commits without an exception, and the recovery
     * tells the back end.
     */
    private StoredReceipt inTransaction(RpcConnection connection, Message message) {
        boolean isCommitted = false;
        try {
            transactions.begin();
            BranchResource branch = new BranchResource(connection);
            if (!transactions.getTransaction().enlistResource(branch)) {
                throw new BackendUnavailableException("No transaction with the back end.", null);
            }
            StoredReceipt receipt = connection.process(message, branch.name());
            transactions.commit();
            isCommitted = true;
            return receipt;
        } catch (RollbackException | HeuristicMixedException | HeuristicRollbackException
                | SystemException | NotSupportedException e) {
            throw new BackendUnavailableException("The transaction was not committed.", e);
        } finally {
            if (!isCommitted) {
                rollBack();
            }
        }
    }

    /** What the caller is told is the first failure, not one of rolling back after it. */
    private void rollBack() {
        try {
            if (transactions.getTransaction() != null) {
                transactions.rollback();
            }
        } catch (SystemException | IllegalStateException e) {
            LOGGER.warn("left to the recovery: {}", e.getMessage());
        }
    }
}
