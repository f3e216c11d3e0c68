package refstack.work;

import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicReference;

/** The ledger's size and groups, read when they are first asked for and kept from then on. */
final class LedgerShape {

    private final AtomicReference<Ledger> known = new AtomicReference<>();

    Ledger of(MeasuredDatabase database) throws SQLException {
        Ledger ledger = known.get();
        if (ledger == null) {
            ledger = Ledger.read(database);
            known.set(ledger);
        }
        return ledger;
    }
}
