package refstack.business;

import jakarta.servlet.http.HttpServletRequest;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import refstack.answers.JsonAnswers;
import refstack.core.ConditionalOnApp;
import refstack.core.Part;

/** Signing on and off, and what may be asked for without. */
@RestController
@ConditionalOnApp(Part.BUSINESS)
class SessionController {

    private final Office office;
    private final Users users;
    private final JdbcTemplate database;
    private final JsonAnswers answers;

    SessionController(Office office, Users users, JdbcTemplate database, JsonAnswers answers) {
        this.office = office;
        this.users = users;
        this.database = database;
        this.answers = answers;
    }

    @GetMapping("/business/size")
    ResponseEntity<byte[]> size() {
        return answers.ok(Size.of(database));
    }

    @PostMapping("/business/sign-on")
    ResponseEntity<byte[]> signOn(@RequestParam("user") int user, HttpServletRequest request) {
        return office.signOn(request, user, users);
    }

    @PostMapping("/business/sign-off")
    ResponseEntity<byte[]> signOff(HttpServletRequest request) {
        return office.signOff(request);
    }
}
