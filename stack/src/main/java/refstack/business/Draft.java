package refstack.business;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/**
 * An order in progress, as the session keeps it; never changed, but replaced.
 *
 * @param customer whose order it is
 * @param lines    one an item
 */
record Draft(int customer, List<Line> lines) implements Serializable {

    /** Most lines of an order. */
    static final int MOST_LINES = 50;

    /**
     * A line of an order.
     *
     * @param item     what is ordered
     * @param name     its name
     * @param branch   out of whose stock
     * @param quantity how much
     * @param price    of one, in cents
     */
    record Line(int item, String name, int branch, int quantity, int price)
            implements Serializable {

        /** Price of the line in cents. */
        long total() {
            return (long) quantity * price;
        }
    }

    static Draft of(int customer) {
        return new Draft(customer, List.of());
    }

    /** With this line, in place of one of the same item if there is one. */
    Draft with(Line line) {
        List<Line> more = new ArrayList<>(lines);
        int index = 0;
        while (index < more.size() && more.get(index).item() != line.item()) {
            index++;
        }
        if (index < more.size()) {
            more.set(index, line);
        } else if (more.size() < MOST_LINES) {
            more.add(line);
        } else {
            throw BusinessException.tooLarge(MOST_LINES);
        }
        return new Draft(customer, List.copyOf(more));
    }

    /** Price of the order in cents. */
    long total() {
        return lines.stream().mapToLong(Line::total).sum();
    }
}
