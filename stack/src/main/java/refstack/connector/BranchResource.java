package refstack.connector;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Consumer;
import javax.transaction.xa.XAException;
import javax.transaction.xa.XAResource;
import javax.transaction.xa.Xid;

/**
 * The back end as a participant of a transaction: its branch is prepared and ended by remote
 * procedure calls over one connection. A branch may be ended over another connection than the one
 * that began it, as it is after a crash.
 */
class BranchResource implements XAResource {

    /** Life of a transaction, and of a branch that nobody prepares. */
    static final int TIMEOUT_SECONDS = 60;

    private final RpcConnection connection;
    private String name = "";

    BranchResource(RpcConnection connection) {
        this.connection = connection;
    }

    /** Name of the branch that was begun here, empty before. */
    String name() {
        return name;
    }

    /** The name of a branch at the back end: format, global part and branch part in hexadecimal. */
    static String nameOf(Xid xid) {
        HexFormat hex = HexFormat.of();
        return xid.getFormatId() + "." + hex.formatHex(xid.getGlobalTransactionId()) + "."
                + hex.formatHex(xid.getBranchQualifier());
    }

    /** The branch begins at the back end with its first message. */
    @Override
    public void start(Xid xid, int flags) {
        name = nameOf(xid);
    }

    @Override
    public void end(Xid xid, int flags) {
        // Nothing is left to be sent.
    }

    @Override
    public int prepare(Xid xid) throws XAException {
        ask(end -> end.prepare(nameOf(xid)));
        return XA_OK;
    }

    @Override
    public void commit(Xid xid, boolean onePhase) throws XAException {
        if (onePhase) {
            prepare(xid);
        }
        ask(end -> end.commit(nameOf(xid)));
    }

    @Override
    public void rollback(Xid xid) throws XAException {
        ask(end -> end.rollback(nameOf(xid)));
    }

    @Override
    public Xid[] recover(int flag) throws XAException {
        if ((flag & TMSTARTRSCAN) == 0) {
            return new Xid[0];
        }
        List<Xid> found = new ArrayList<>();
        ask(end -> {
            for (String left : end.recover()) {
                RecoveredXid xid = RecoveredXid.parse(left);
                if (xid != null) {
                    found.add(xid);
                }
            }
        });
        return found.toArray(new Xid[0]);
    }

    @Override
    public void forget(Xid xid) {
        // The back end decides nothing by itself.
    }

    @Override
    public boolean isSameRM(XAResource other) {
        return other == this;
    }

    @Override
    public int getTransactionTimeout() {
        return TIMEOUT_SECONDS;
    }

    @Override
    public boolean setTransactionTimeout(int seconds) {
        return false;
    }

    private void ask(Consumer<RpcConnection> question) throws XAException {
        try {
            question.accept(connection);
        } catch (NoBranchException e) {
            throw failure(XAException.XAER_NOTA, e);
        } catch (RuntimeException e) {
            throw failure(XAException.XAER_RMFAIL, e);
        }
    }

    private static XAException failure(int code, RuntimeException cause) {
        XAException failure = new XAException(code);
        failure.initCause(cause);
        return failure;
    }
}
