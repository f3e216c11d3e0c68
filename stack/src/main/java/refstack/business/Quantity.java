package refstack.business;

import refstack.answers.Refusal;

/** How much of something a request may be about. */
final class Quantity {

    private static final int MOST = 1000;
    private static final long MOST_CENTS = 100_000_000;

    private Quantity() {
    }

    /** Refuses what is no quantity of goods. */
    static void check(int quantity) {
        if (quantity < 1 || quantity > MOST) {
            throw Refusal.malformed("quantity must be from 1 to " + MOST + ".");
        }
    }

    /** Refuses what is no amount of money. */
    static void checkCents(long cents) {
        if (cents < 1 || cents > MOST_CENTS) {
            throw Refusal.malformed("cents must be from 1 to " + MOST_CENTS + ".");
        }
    }
}
