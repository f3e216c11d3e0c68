package refstack.remote;

import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import refstack.answers.JsonAnswers;
import refstack.core.BackendTimeoutException;
import refstack.core.BackendUnavailableException;
import refstack.core.ConditionalOnRole;
import refstack.core.FlightBackend;
import refstack.core.FlightKey;
import refstack.core.MalformedKeyException;
import refstack.core.Role;
import tools.jackson.databind.json.JsonMapper;

/**
 * The internal API of a back end node: the two calls of {@link FlightBackend} in JSON. Bodies
 * are written to memory first, so that each answer has a Content-Length.
 */
@RestController
@ConditionalOnRole(Role.BACKEND)
class BackendController {

    private final FlightBackend backend;
    private final JsonAnswers answers;

    BackendController(FlightBackend backend, JsonMapper json) {
        this.backend = backend;
        this.answers = new JsonAnswers(json);
    }

    @GetMapping("/backend/flights")
    ResponseEntity<byte[]> list() {
        return answers.of(HttpStatus.OK, backend.list());
    }

    @GetMapping("/backend/flights/{carrid}/{connid}/{fldate}")
    ResponseEntity<byte[]> detail(@PathVariable("carrid") String carrid,
            @PathVariable("connid") String connid, @PathVariable("fldate") String fldate) {
        return backend.detail(FlightKey.parse(carrid, connid, fldate))
                .map(flight -> answers.of(HttpStatus.OK, flight))
                .orElseGet(() -> answers.problem(HttpStatus.NOT_FOUND, "There is no such flight."));
    }

    @ExceptionHandler
    ResponseEntity<byte[]> malformed(MalformedKeyException failure) {
        return answers.problem(HttpStatus.BAD_REQUEST, failure.getMessage());
    }

    @ExceptionHandler
    ResponseEntity<byte[]> late(BackendTimeoutException failure) {
        return answers.problem(HttpStatus.GATEWAY_TIMEOUT, failure.getMessage());
    }

    @ExceptionHandler
    ResponseEntity<byte[]> unavailable(BackendUnavailableException failure) {
        return answers.problem(HttpStatus.SERVICE_UNAVAILABLE, failure.getMessage());
    }
}
