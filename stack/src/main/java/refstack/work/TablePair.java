package refstack.work;

/**
 * Whether two tables in memory hold the same: a loop over rows and fields, or the comparison that
 * is built in. The database has no part in it. Even keys compare equal tables, odd ones such that
 * differ in their last row, so both have to go to the end.
 */
final class TablePair implements Pair {

    static final int ROWS = 20_000;
    private static final long SEED = 259_480;

    private final RowTable table = RowTable.of(ROWS, SEED);
    private final RowTable equal = RowTable.of(ROWS, SEED);
    private final RowTable other = table.changedAt(ROWS - 1);

    @Override
    public String name() {
        return "tables";
    }

    @Override
    public String naive(MeasuredDatabase database, int key) {
        return text(table.firstDifferenceByRow(other(key)));
    }

    @Override
    public String better(MeasuredDatabase database, int key) {
        return text(table.firstDifference(other(key)));
    }

    private RowTable other(int key) {
        return key % 2 == 0 ? equal : other;
    }

    private static String text(int difference) {
        return ROWS + " rows, " + (difference < 0 ? "equal" : "different from row " + difference);
    }
}
