package refstack.work;

import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** All pairs, by name. */
final class Pairs {

    private static final String NAIVE = "naive";
    private static final String BETTER = "better";

    private final Map<String, Pair> pairs = new LinkedHashMap<>();

    Pairs(List<Pair> pairs) {
        pairs.forEach(pair -> this.pairs.put(pair.name(), pair));
    }

    /** Raises if there is no such pair or variant; metrics and answers may then name it. */
    void check(String pair, String variant) {
        if (!pairs.containsKey(pair) || !Set.of(NAIVE, BETTER).contains(variant)) {
            throw WorkException.unknown("There are the pairs " + String.join(", ", pairs.keySet())
                    + ", each " + NAIVE + " and " + BETTER + ".");
        }
    }

    /** Runs one variant of a pair. */
    Map<String, Object> run(String pair, String variant, MeasuredDatabase database, int key)
            throws SQLException {
        check(pair, variant);
        Pair one = pairs.get(pair);
        String result = variant.equals(NAIVE) ? one.naive(database, key)
                : one.better(database, key);
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("pair", pair);
        answer.put("variant", variant);
        answer.put("key", key);
        answer.put("result", result);
        answer.put("rows", database.rows());
        answer.put("statements", database.statements());
        return answer;
    }
}
