package refstack.disk;

import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.OutputStream;
import java.util.LinkedHashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import refstack.answers.JsonAnswers;
import refstack.answers.Refusal;
import refstack.answers.Refuses;
import refstack.core.ConditionalOnApp;
import refstack.core.Part;

/** One request, one disk job, one answer about what was done; and bytes for the network alone. */
@RestController
@ConditionalOnApp(Part.DISK)
class DiskController implements Refuses {

    private static final Logger LOGGER = LoggerFactory.getLogger(DiskController.class);
    private static final int MAX_SENT = 1 << 30;

    private final DiskJobs jobs;
    private final DiskMetrics metrics;
    private final String node;
    private final JsonAnswers answers;
    private final byte[] filler = new byte[1 << 16];

    DiskController(DiskJobs jobs, DiskMetrics metrics, @Value("${refstack.node.name}") String node,
            JsonAnswers answers) {
        this.jobs = jobs;
        this.metrics = metrics;
        this.node = node;
        this.answers = answers;
        new Content(0).piece(0, 0, filler.length).get(filler);
    }

    @PostMapping("/disk/files/{set}")
    ResponseEntity<byte[]> files(@PathVariable("set") String name,
            @RequestParam(name = "files", required = false) Integer files,
            @RequestParam(name = "least", required = false) Long least,
            @RequestParam(name = "most", required = false) Long most,
            @RequestParam(name = "seed", defaultValue = "1") long seed) throws IOException {
        FileSet set = FileSet.of(name, files, least, most, seed);
        if (set == null) {
            throw new Refusal(HttpStatus.NOT_FOUND, "",
                    "There is no such set; there are small, medium and large.");
        }
        return told(name, jobs.run(set));
    }

    @PostMapping("/disk/fio/{job}")
    ResponseEntity<byte[]> fio(@PathVariable("job") String name,
            @RequestParam(name = "bytes", defaultValue = "268435456") long bytes,
            @RequestParam(name = "runtime-ms", defaultValue = "1000") int runtimeMillis,
            @RequestParam(name = "engine", defaultValue = "libaio") String engine,
            @RequestParam(name = "direct", defaultValue = "true") boolean direct,
            @RequestParam(name = "depth", required = false) Integer depth) throws IOException {
        FioJob job = FioJob.of(name);
        if (job == null) {
            throw new Refusal(HttpStatus.NOT_FOUND, "", "There is no such job; there are "
                    + String.join(", ", FioJob.labels()) + ".");
        }
        return told(name, jobs.run(new FioRequest(job, bytes, runtimeMillis, engine, direct,
                depth == null ? job.depth() : depth)));
    }

    /** Bytes out of memory: what the network of a host carries when no disk is asked. */
    @GetMapping("/disk/network")
    void network(@RequestParam("bytes") int bytes, HttpServletResponse response)
            throws IOException {
        if (bytes < 1 || bytes > MAX_SENT) {
            throw new IllegalArgumentException("bytes must be from 1 to " + MAX_SENT + ".");
        }
        response.setContentType(MediaType.APPLICATION_OCTET_STREAM_VALUE);
        response.setContentLength(bytes);
        long start = System.nanoTime();
        OutputStream out = response.getOutputStream();
        for (int left = bytes; left > 0; left -= filler.length) {
            out.write(filler, 0, Math.min(left, filler.length));
        }
        out.flush();
        metrics.sent(bytes, System.nanoTime() - start);
    }

    private ResponseEntity<byte[]> told(String job, Outcome outcome) throws IOException {
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("job", job);
        answer.putAll(outcome.told());
        Map<String, Object> done = new LinkedHashMap<>();
        outcome.done().forEach((direction, one) -> done.put(direction.label(), one.told()));
        answer.put("done", done);
        answer.put("fileSystem", jobs.fileSystem());
        answer.put("node", node);
        return answers.ok(answer);
    }

    /** A failure of the disk, not of who reads the answer: jobs alone have to do with files. */
    @ExceptionHandler
    ResponseEntity<byte[]> failed(IOException failure) {
        LOGGER.warn("disk job failed: {}", failure.toString());
        refused("failed");
        return answers.problem(HttpStatus.INTERNAL_SERVER_ERROR,
                "The disk job failed; the node's log says more.", new HttpHeaders());
    }

    @Override
    public void refused(String reason) {
        metrics.refused(reason);
    }
}
