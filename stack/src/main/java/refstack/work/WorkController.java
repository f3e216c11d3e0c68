package refstack.work;

import java.sql.SQLException;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import refstack.answers.Refusal;
import refstack.answers.Refuses;
import refstack.core.ConditionalOnApp;
import refstack.core.Part;
import refstack.work.WorkPlace.Done;
import tools.jackson.databind.json.JsonMapper;

/** Dialogue work by GET, jobs by POST; each answer tells its time by {@code Server-Timing}. */
@RestController
@ConditionalOnApp(Part.WORK)
class WorkController implements Refuses {

    private static final String SERVER_TIMING = "Server-Timing";
    /** What PostgreSQL says where a table is missing. */
    private static final String UNDEFINED_TABLE = "42P01";

    private final WorkPlace place;
    private final LedgerShape shape;
    private final Pairs pairs;
    private final WorkProperties properties;
    private final JsonMapper json;

    WorkController(WorkPlace place, LedgerShape shape, Pairs pairs, WorkProperties properties,
            JsonMapper json) {
        this.place = place;
        this.shape = shape;
        this.pairs = pairs;
        this.properties = properties;
        this.json = json;
    }

    /** A piece of work whose answer is still to be written down. */
    @FunctionalInterface
    private interface Answer {

        Record of(MeasuredDatabase database) throws SQLException;
    }

    @GetMapping("/ledger/count")
    ResponseEntity<byte[]> count() throws SQLException {
        return done(Work.COUNT, Queries::count);
    }

    @GetMapping("/ledger/selection")
    ResponseEntity<byte[]> selection(@RequestParam("account") int account,
            @RequestParam(name = "from", defaultValue = "1") int from,
            @RequestParam(name = "to", defaultValue = "12") int to) throws SQLException {
        return done(Work.SELECTION,
                database -> Queries.selection(database, account, from, to));
    }

    @GetMapping("/ledger/report/summary")
    ResponseEntity<byte[]> summary(@RequestParam(name = "group", defaultValue = "0") int group)
            throws SQLException {
        return done(Work.SUMMARY, database -> Report.summary(database,
                shape.of(database).group(group)));
    }

    @GetMapping("/ledger/report/items")
    ResponseEntity<byte[]> items(@RequestParam(name = "group", defaultValue = "0") int group,
            @RequestParam("period") int period,
            @RequestParam(name = "page", defaultValue = "1") int page,
            @RequestParam(name = "rows", defaultValue = "100") int rows) throws SQLException {
        return done(Work.ITEMS, database -> Report.items(database,
                shape.of(database).group(group), period, page, rows));
    }

    @GetMapping("/ledger/report/all")
    ResponseEntity<byte[]> all(@RequestParam(name = "group", defaultValue = "0") int group)
            throws SQLException {
        return done(Work.ALL_ITEMS, database -> Report.all(database,
                shape.of(database).group(group)));
    }

    @GetMapping("/ledger/pairs/{pair}/{variant}")
    ResponseEntity<byte[]> pair(@PathVariable("pair") String pair,
            @PathVariable("variant") String variant,
            @RequestParam(name = "key", defaultValue = "0") int key) throws SQLException {
        Work work = pairs.work(pair, variant);
        if (key < 0) {
            throw Refusal.malformed("key must be 0 or more.");
        }
        return done(work, database -> pairs.run(pair, variant, database, key));
    }

    @PostMapping("/ledger/jobs/generation")
    ResponseEntity<byte[]> generation(@RequestParam("programs") int programs,
            @RequestParam(name = "seed", defaultValue = "1") long seed) throws SQLException {
        if (programs < 1 || programs > properties.maxPrograms()) {
            throw Refusal.malformed(
                    "programs must be from 1 to " + properties.maxPrograms() + ".");
        }
        return done(Work.GENERATION, database -> Generation.run(programs, seed));
    }

    @PostMapping("/ledger/jobs/statistics")
    ResponseEntity<byte[]> statistics() throws SQLException {
        return done(Work.STATISTICS, Statistics::run);
    }

    @PostMapping("/ledger/jobs/closing")
    ResponseEntity<byte[]> closing(
            @RequestParam(name = "accounts", defaultValue = "0") int accounts)
            throws SQLException {
        if (accounts < 0) {
            throw Refusal.malformed("accounts must be 1 or more, or 0 for all.");
        }
        return done(Work.CLOSING, database ->
                new Closing(database, properties.chunkAccounts()).run(accounts));
    }

    private ResponseEntity<byte[]> done(Work work, Answer answer) throws SQLException {
        try {
            Done done = place.run(work, database -> json.writeValueAsBytes(answer.of(database)));
            return ResponseEntity.ok().contentType(MediaType.APPLICATION_JSON)
                    .header(SERVER_TIMING, done.serverTiming()).body(done.body());
        } catch (SQLException e) {
            if (UNDEFINED_TABLE.equals(e.getSQLState())) {
                throw Ledger.missing();
            }
            throw e;
        }
    }

    @Override
    public void refused(String reason) {
        place.refused(reason);
    }
}
