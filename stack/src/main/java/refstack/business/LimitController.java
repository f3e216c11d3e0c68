package refstack.business;

import java.util.Map;
import java.util.TreeMap;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import refstack.answers.JsonAnswers;
import refstack.core.ConditionalOnApp;
import refstack.core.Part;
import refstack.core.PoolLimits;
import refstack.core.TunableLimit;
import refstack.core.TunablePool;

/** The limits of the node, by their names among its settings: what they are, and other ones. */
@RestController
@ConditionalOnApp(Part.BUSINESS)
class LimitController {

    private static final String PATH = "/business/limits";

    private final ObjectProvider<TunableLimit> known;
    private final TunableLimit threads;
    private final JsonAnswers answers;

    LimitController(ObjectProvider<TunableLimit> known, TunablePool web, JsonAnswers answers) {
        this.known = known;
        this.threads = new Threads(web);
        this.answers = answers;
    }

    /** The web threads. */
    private record Threads(TunablePool pool) implements TunableLimit {

        @Override
        public String name() {
            return "threads";
        }

        @Override
        public int value() {
            return pool.limits().threads();
        }

        @Override
        public void set(int value) {
            pool.resize(PoolLimits.of(value));
        }
    }

    private Map<String, TunableLimit> limits() {
        Map<String, TunableLimit> limits = new TreeMap<>();
        limits.put(threads.name(), threads);
        known.forEach(limit -> limits.put(limit.name(), limit));
        return limits;
    }

    @GetMapping(PATH)
    ResponseEntity<byte[]> all() {
        Map<String, Integer> told = new TreeMap<>();
        limits().forEach((name, limit) -> told.put(name, limit.value()));
        return answers.ok(told);
    }

    /** Sets those that are named; the others stay as they are. */
    @PostMapping(PATH)
    ResponseEntity<byte[]> set(@RequestParam Map<String, String> wanted) {
        Map<String, TunableLimit> limits = limits();
        for (String name : wanted.keySet()) {
            if (!limits.containsKey(name)) {
                throw new IllegalArgumentException("there is no limit " + name + "; there are "
                        + String.join(", ", limits.keySet()));
            }
        }
        wanted.forEach((name, value) -> limits.get(name).set(Integer.parseInt(value)));
        return all();
    }
}
