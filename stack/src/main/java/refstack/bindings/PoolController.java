package refstack.bindings;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import refstack.answers.JsonAnswers;
import refstack.answers.Refusal;
import refstack.core.ConditionalOnPart;
import refstack.core.Part;
import refstack.core.PoolLimits;
import refstack.core.TunablePool;

/** The node's pools of threads: what limits they have, and other ones while the node runs. */
@RestController
@ConditionalOnPart(Part.BINDINGS)
class PoolController {

    private static final String PATH = "/bindings-pools";

    private final Pools own;
    private final ObjectProvider<TunablePool> others;
    private final JsonAnswers answers;

    PoolController(Pools own, ObjectProvider<TunablePool> others, JsonAnswers answers) {
        this.own = own;
        this.others = others;
        this.answers = answers;
    }

    /** By name. */
    private Map<String, TunablePool> pools() {
        Map<String, TunablePool> pools = new TreeMap<>();
        own.all().forEach(pool -> pools.put(pool.name(), pool));
        others.forEach(pool -> pools.put(pool.name(), pool));
        return pools;
    }

    @GetMapping(PATH)
    ResponseEntity<byte[]> all() {
        return answers.ok(pools().values().stream().map(PoolController::told).toList());
    }

    /** What is not said stays as it is; threads of before end when their work is done. */
    @PostMapping(PATH + "/{pool}")
    ResponseEntity<byte[]> resize(@PathVariable("pool") String name,
            @RequestParam(name = "threads", required = false) Integer threads,
            @RequestParam(name = "grows", required = false) Boolean isGrown,
            @RequestParam(name = "idle", required = false) String idle) {
        Map<String, TunablePool> pools = pools();
        TunablePool pool = pools.get(name);
        if (pool == null) {
            throw Refusal.unknown(
                    "There is no such pool here; there are " + String.join(", ", pools.keySet()));
        }
        PoolLimits now = pool.limits();
        Duration wait = idle == null ? now.idle() : DurationStyle.detectAndParse(idle);
        PoolLimits limits = new PoolLimits(threads == null ? now.threads() : threads,
                isGrown == null ? now.isGrown() : isGrown, wait);
        pool.resize(limits);
        return answers.ok(told(pool));
    }

    private record Told(String pool, int threads, boolean grows, long idleMs) {
    }

    private static Told told(TunablePool pool) {
        PoolLimits limits = pool.limits();
        return new Told(pool.name(), limits.threads(), limits.isGrown(),
                limits.idle().toMillis());
    }
}
