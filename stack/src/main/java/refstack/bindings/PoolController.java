package refstack.bindings;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import refstack.answers.JsonAnswers;
import refstack.core.ConditionalOnPart;
import refstack.core.Part;
import refstack.core.PoolLimits;
import refstack.core.TunablePool;
import tools.jackson.databind.json.JsonMapper;

/** The node's pools of threads: what limits they have, and other ones while the node runs. */
@RestController
@ConditionalOnPart(Part.BINDINGS)
class PoolController {

    private static final String PATH = "/bindings-pools";

    private final Pools own;
    private final ObjectProvider<TunablePool> others;
    private final JsonAnswers answers;

    PoolController(Pools own, ObjectProvider<TunablePool> others, JsonMapper json) {
        this.own = own;
        this.others = others;
        this.answers = new JsonAnswers(json);
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
        return answers.of(HttpStatus.OK, pools().values().stream().map(this::told).toList());
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
            return answers.problem(HttpStatus.NOT_FOUND,
                    "There is no such pool here; there are " + String.join(", ", pools.keySet()));
        }
        PoolLimits now = pool.limits();
        Duration wait = idle == null ? now.idle() : DurationStyle.detectAndParse(idle);
        PoolLimits limits = new PoolLimits(threads == null ? now.threads() : threads,
                isGrown == null ? now.isGrown() : isGrown, wait);
        pool.resize(limits);
        return answers.of(HttpStatus.OK, told(pool));
    }

    private Map<String, Object> told(TunablePool pool) {
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("pool", pool.name());
        told.put("threads", pool.limits().threads());
        told.put("grows", pool.limits().isGrown());
        told.put("idleMs", pool.limits().idle().toMillis());
        return told;
    }

    @ExceptionHandler
    ResponseEntity<byte[]> wrong(IllegalArgumentException failure) {
        return answers.problem(HttpStatus.BAD_REQUEST, failure.getMessage());
    }
}
