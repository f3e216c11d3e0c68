package refstack.business;

import java.util.List;

/**
 * A line of a document in the general ledger.
 *
 * @param account which account
 * @param cents   debit is positive, credit negative
 */
record Posting(int account, long cents) {

    private static final int BRANCH = 100;
    private static final int COST_PERCENT = 60;

    /** Accounts that every branch has. */
    enum Use {
        RECEIVABLES, CASH, INVENTORY, REVENUE, COST_OF_SALES, GOODS_RECEIVED, ORDERS_ON_HAND,
        ORDERS_BOOKED;

        /** The account of a branch. */
        int of(int branch) {
            return branch * BRANCH + ordinal() + 1;
        }
    }

    /** What goods of a price cost the business, in cents. */
    static long cost(long price) {
        return price * COST_PERCENT / 100;
    }

    /** An amount that goes from one account to another one. */
    static List<Posting> between(int from, int to, long cents) {
        return List.of(new Posting(to, cents), new Posting(from, -cents));
    }
}
