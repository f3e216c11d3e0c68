package refstack.work;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * A table in memory as interpreters of business languages keep it: rows of fixed width in one
 * block, whose fields are read by a description of the columns.
 */
final class RowTable {

    /** Bytes of each column: document, line, account, period, amount in cents, cost center. */
    private static final int[] WIDTHS = {4, 2, 4, 2, 8, 4};
    private static final int[] OFFSETS = new int[WIDTHS.length];
    private static final int ROW_BYTES;

    static {
        int offset = 0;
        for (int column = 0; column < WIDTHS.length; column++) {
            OFFSETS[column] = offset;
            offset += WIDTHS[column];
        }
        ROW_BYTES = offset;
    }

    private final byte[] block;
    private final ByteBuffer fields;

    private RowTable(byte[] block) {
        this.block = block;
        this.fields = ByteBuffer.wrap(block);
    }

    /** A table with rows drawn from a seed. */
    static RowTable of(int rows, long seed) {
        byte[] block = new byte[rows * ROW_BYTES];
        new SplittableRandom(seed).nextBytes(block);
        return new RowTable(block);
    }

    /** A table with the same rows but for one field of a row. */
    RowTable changedAt(int row) {
        byte[] copy = block.clone();
        copy[row * ROW_BYTES + OFFSETS[4]] ^= 1;
        return new RowTable(copy);
    }

    int rows() {
        return block.length / ROW_BYTES;
    }

    /** The first row that differs from another table's of the same size, field by field; or -1. */
    int firstDifferenceByRow(RowTable other) {
        for (int row = 0; row < rows(); row++) {
            for (int column = 0; column < WIDTHS.length; column++) {
                if (field(row, column) != other.field(row, column)) {
                    return row;
                }
            }
        }
        return -1;
    }

    /** The same, by the comparison that is built into the runtime. */
    int firstDifference(RowTable other) {
        int at = Arrays.mismatch(block, other.block);
        return at < 0 ? -1 : at / ROW_BYTES;
    }

    private long field(int row, int column) {
        int at = row * ROW_BYTES + OFFSETS[column];
        return switch (WIDTHS[column]) {
            case 2 -> fields.getShort(at);
            case 4 -> fields.getInt(at);
            default -> fields.getLong(at);
        };
    }
}
