package refstack.remote;

import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import refstack.answers.JsonAnswers;
import refstack.answers.Refusal;
import refstack.core.ConditionalOnRole;
import refstack.core.FlightBackend;
import refstack.core.FlightKey;
import refstack.core.Role;

/**
 * The internal API of a back end node: the two calls of {@link FlightBackend} in JSON. Bodies
 * are written to memory first, so that each answer has a Content-Length.
 */
@RestController
@ConditionalOnRole(Role.BACKEND)
class BackendController {

    private final FlightBackend backend;
    private final JsonAnswers answers;

    BackendController(FlightBackend backend, JsonAnswers answers) {
        this.backend = backend;
        this.answers = answers;
    }

    @GetMapping("/backend/flights")
    ResponseEntity<byte[]> list() {
        return answers.ok(backend.list());
    }

    @GetMapping("/backend/flights/{carrid}/{connid}/{fldate}")
    ResponseEntity<byte[]> detail(@PathVariable("carrid") String carrid,
            @PathVariable("connid") String connid, @PathVariable("fldate") String fldate) {
        return answers.ok(backend.detail(FlightKey.parse(carrid, connid, fldate))
                .orElseThrow(() -> Refusal.unknown("There is no such flight.")));
    }
}
