package refstack.work;

import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/**
 * A list of items as it goes to a printer: pages with a head, a line an item, a sum for each
 * account. The list is rendered as a whole and held in memory, as a spool is.
 */
final class PrintedList {

    static final int LINES_OF_PAGE = 60;

    private static final int AMOUNT_WIDTH = 16;
    private static final int TEXT_WIDTH = 40;
    private static final BigDecimal NOTHING = new BigDecimal("0.00");

    private final ByteArrayOutputStream spool = new ByteArrayOutputStream(1 << 16);
    private final CRC32C checksum = new CRC32C();
    private final StringBuilder line = new StringBuilder(160);
    private int account = -1;
    private int lines;
    private int pages;
    private String firstPage = "";
    private long items;
    private BigDecimal sum = NOTHING;
    private BigDecimal total = NOTHING;

    /** Adds an item; those of an account follow one another. */
    void add(int ofAccount, String name, int document, int number, String postedOn, String kind,
            BigDecimal amount, int costCenter, String text) {
        if (ofAccount != account) {
            endAccount();
            account = ofAccount;
            line.append("Account ").append(ofAccount).append(' ').append(name);
            print();
        }
        right(document, 10);
        right(number, 5);
        line.append("  ").append(postedOn).append("  ").append(kind);
        right(costCenter, 7);
        line.append("  ");
        left(text, TEXT_WIDTH);
        right(amount, AMOUNT_WIDTH);
        print();
        items++;
        sum = sum.add(amount);
    }

    /** Ends the list with the last account's sum and the total. */
    void end() {
        endAccount();
        line.append("Total of ").append(items).append(" items");
        right(total, AMOUNT_WIDTH);
        print();
        endFirstPage();
    }

    private void endAccount() {
        if (account >= 0) {
            line.append("Sum of ").append(account);
            right(sum, AMOUNT_WIDTH);
            print();
            total = total.add(sum);
            sum = NOTHING;
        }
    }

    private void print() {
        if (lines % LINES_OF_PAGE == 0) {
            endFirstPage();
            pages++;
            write("Items of the ledger, page " + pages + "\n");
        }
        lines++;
        write(line.append('\n').toString());
        line.setLength(0);
    }

    private void write(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        spool.write(bytes, 0, bytes.length);
        checksum.update(bytes, 0, bytes.length);
    }

    private void endFirstPage() {
        if (pages == 1) {
            firstPage = spool.toString(StandardCharsets.UTF_8);
        }
    }

    private void left(String text, int width) {
        line.append(text, 0, Math.min(width, text.length()));
        line.append(" ".repeat(Math.max(0, width - text.length())));
    }

    private void right(Object value, int width) {
        String text = value.toString();
        line.append(" ".repeat(Math.max(1, width - text.length()))).append(text);
    }

    long items() {
        return items;
    }

    BigDecimal total() {
        return total;
    }

    int pages() {
        return pages;
    }

    int bytes() {
        return spool.size();
    }

    /** CRC-32C of the whole list, in hexadecimal. */
    String checksum() {
        return "%08x".formatted(checksum.getValue());
    }

    String firstPage() {
        return firstPage;
    }
}
