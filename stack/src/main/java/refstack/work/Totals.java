package refstack.work;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/** A result in short: number of rows, total of amounts, and a checksum over the rows. */
final class Totals {

    private final CRC32C checksum = new CRC32C();
    private long rows;
    private BigDecimal total = new BigDecimal("0.00");

    void add(BigDecimal amount, Object... values) {
        rows++;
        total = total.add(amount);
        for (Object value : values) {
            checksum.update(value.toString().getBytes(StandardCharsets.UTF_8));
            checksum.update('|');
        }
    }

    @Override
    public String toString() {
        return "%d rows, %s, %08x".formatted(rows, total, checksum.getValue());
    }
}
