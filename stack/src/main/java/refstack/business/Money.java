package refstack.business;

/** Amounts, which are whole cents everywhere but in pages. */
final class Money {

    private static final int CENTS = 100;

    private Money() {
    }

    /** As pages show it, such as {@code -12.34}. */
    static String text(long cents) {
        long rest = Math.abs(cents % CENTS);
        return (cents < 0 ? "-" : "") + Math.abs(cents / CENTS) + (rest < 10 ? ".0" : ".") + rest;
    }
}
