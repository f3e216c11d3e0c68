package refstack.business;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

/** The series {@code refstack_business_transactions_total} and {@code _seconds_total}. */
class BusinessMetrics {

    private static final double NANOS = 1e9;

    private final Map<Outcome, Map<BusinessTransaction, Counter>> transactions =
            new EnumMap<>(Outcome.class);
    private final Map<BusinessTransaction, Counter> seconds =
            new EnumMap<>(BusinessTransaction.class);

    /** What became of a transaction. */
    enum Outcome {

        DONE,

        /** A write that had been done before. */
        REPEATED,

        /** It cannot be done: the page says why. */
        REFUSED,

        /** It could be done, but was not: the database did not answer. */
        FAILED;

        private final String label = name().toLowerCase(Locale.ROOT);
    }

    /** All counters are there from the beginning: the rise to a first reading is unseen. */
    BusinessMetrics(MeterRegistry registry) {
        for (Outcome outcome : Outcome.values()) {
            Map<BusinessTransaction, Counter> counters = new EnumMap<>(BusinessTransaction.class);
            for (BusinessTransaction transaction : BusinessTransaction.values()) {
                counters.put(transaction, registry.counter("refstack.business.transactions",
                        "transaction", transaction.label(), "outcome", outcome.label));
            }
            transactions.put(outcome, counters);
        }
        for (BusinessTransaction transaction : BusinessTransaction.values()) {
            seconds.put(transaction, registry.counter("refstack.business.seconds",
                    "transaction", transaction.label()));
        }
    }

    void count(BusinessTransaction transaction, Outcome outcome, long nanos) {
        transactions.get(outcome).get(transaction).increment();
        seconds.get(transaction).increment(nanos / NANOS);
    }
}
