package refstack.work;

import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import refstack.answers.Refusal;

/** All pairs, by name. */
final class Pairs {

    private static final String NAIVE = "naive";
    private static final List<String> VARIANTS = List.of(NAIVE, "better");

    private final Map<String, Pair> pairs = new LinkedHashMap<>();

    Pairs(List<Pair> pairs) {
        pairs.forEach(pair -> this.pairs.put(pair.name(), pair));
    }

    /** Both variants of every pair as pieces of work. */
    List<Work> works() {
        return pairs.keySet().stream()
                .flatMap(pair -> VARIANTS.stream().map(variant -> work(pair, variant))).toList();
    }

    /** A variant of a pair as a piece of work; raises if there is no such pair or variant. */
    Work work(String pair, String variant) {
        if (!pairs.containsKey(pair) || !VARIANTS.contains(variant)) {
            throw Refusal.unknown("There are the pairs " + String.join(", ", pairs.keySet())
                    + ", each " + String.join(" and ", VARIANTS) + ".");
        }
        return Work.dialogue(pair + "-" + variant);
    }

    record Done(String pair, String variant, int key, String result, long rows, long statements) {
    }

    /** Runs one variant of a pair, both of which must be there. */
    Done run(String pair, String variant, MeasuredDatabase database, int key)
            throws SQLException {
        Pair one = pairs.get(pair);
        String result = variant.equals(NAIVE) ? one.naive(database, key)
                : one.better(database, key);
        return new Done(pair, variant, key, result, database.rows(), database.statements());
    }
}
