package refstack.connector;

import java.util.HexFormat;
import javax.transaction.xa.Xid;

/** The id of a branch, as its name at the back end tells it. */
record RecoveredXid(int format, byte[] global, byte[] branch) implements Xid {

    /** The id behind a branch's name, or null if the name is none of ours. */
    static RecoveredXid parse(String name) {
        String[] parts = name.split("\\.");
        if (parts.length != 3) {
            return null;
        }
        try {
            HexFormat hex = HexFormat.of();
            return new RecoveredXid(Integer.parseInt(parts[0]), hex.parseHex(parts[1]),
                    hex.parseHex(parts[2]));
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    @Override
    public int getFormatId() {
        return format;
    }

    @Override
    public byte[] getGlobalTransactionId() {
        return global.clone();
    }

    @Override
    public byte[] getBranchQualifier() {
        return branch.clone();
    }
}
