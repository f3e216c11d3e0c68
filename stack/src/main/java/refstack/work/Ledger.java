package refstack.work;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.springframework.http.HttpStatus;
import refstack.answers.Refusal;

/**
 * How large the ledger is, and which part of it a number chooses. Read once: a ledger does not
 * grow while a node runs.
 *
 * @param groups    groups of accounts, numbered from 1
 * @param documents how many there are, numbered from 1
 */
record Ledger(List<Group> groups, int documents) {

    static final int PERIODS = 12;

    private static final String GROUPS = "select group_id, min(account), max(account) "
            + "from ledger_account group by group_id order by group_id";
    private static final String DOCUMENTS =
            "select coalesce(max(document), 0) from ledger_document";

    /** Accounts that follow one another, all those from the first to the last. */
    record Group(int id, int first, int last) {
    }

    /** The node has the part, but its database lacks what the part works on. */
    static Refusal missing() {
        return new Refusal(HttpStatus.CONFLICT, "ledger", "The database has no ledger: it was "
                + "loaded without one (LoadMain --ledger).");
    }

    static Ledger read(MeasuredDatabase database) throws SQLException {
        List<Group> groups = new ArrayList<>();
        database.read(GROUPS,
                row -> groups.add(new Group(row.getInt(1), row.getInt(2), row.getInt(3))));
        int[] documents = new int[1];
        database.read(DOCUMENTS, row -> documents[0] = row.getInt(1));
        if (groups.isEmpty() || documents[0] == 0) {
            throw missing();
        }
        return new Ledger(List.copyOf(groups), documents[0]);
    }

    /** The group of that number; 0 stands for all accounts. */
    Group group(int id) {
        if (id == 0) {
            return new Group(0, groups.get(0).first(), groups.get(groups.size() - 1).last());
        }
        if (id < 0 || id > groups.size()) {
            throw Refusal.malformed(
                    "group must be from 1 to " + groups.size() + ", or 0 for all.");
        }
        return groups.get(id - 1);
    }

    /** Checks a period that was asked for. */
    static int period(int period) {
        if (period < 1 || period > PERIODS) {
            throw Refusal.malformed("period must be from 1 to " + PERIODS + ".");
        }
        return period;
    }

    /** The group that a key chooses. */
    Group groupOf(int key) {
        return groups.get(key % groups.size());
    }

    /** The period that a key chooses. */
    static int periodOf(int key) {
        return 1 + key % PERIODS;
    }

    /** The first of so many documents that a key chooses. */
    int documentOf(int key, int many) {
        return 1 + (int) ((long) key * many % Math.max(1, documents - many + 1));
    }
}
