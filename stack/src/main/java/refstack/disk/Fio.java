package refstack.disk;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.springframework.http.HttpStatus;
import refstack.answers.Refusal;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Runs the program fio with the job files beside this class. Where the host lacks the engine that
 * is asked for, or direct I/O, the next best way is taken and told.
 */
class Fio {

    private static final int PROBE_MILLIS = 1;
    private static final long GRACE_S = 60;
    private static final int MAX_WORDS = 200;

    private final String program;
    private final JsonMapper json;
    private final Map<String, Boolean> works = new ConcurrentHashMap<>();

    Fio(String program, JsonMapper json) {
        this.program = program;
        this.json = json;
    }

    /**
     * Does a job in the folder.
     *
     * @throws Refusal            if there is no fio, or none that runs
     * @throws DiskFullException   if there is no room for its file
     */
    Outcome run(FioRequest asked, Scratch scratch) throws IOException {
        FioRequest possible = possible(asked, scratch.folder());
        Ended ended = start(possible, scratch.folder());
        if (ended.code != 0) {
            throw ended.failure();
        }
        try {
            Map<Direction, Done> done = FioReport.of(json.readTree(ended.report), possible.job());
            Map<String, Object> told = new LinkedHashMap<>();
            told.put("bytes", asked.bytes());
            told.put("ran", possible.how());
            told.put("asAsked", possible.how().equals(asked.how()));
            told.put("depth", possible.depth());
            return new Outcome(possible.how(), done, told);
        } catch (JacksonException e) {
            throw new IOException("fio gave a report that cannot be read: " + ended.words(), e);
        }
    }

    /** The first way that works here: a short run in the folder tells, once for each way. */
    private FioRequest possible(FioRequest asked, Path folder) throws IOException {
        Set<FioRequest> ways = new LinkedHashSet<>();
        for (boolean direct : asked.direct() ? new boolean[] {true, false} : new boolean[] {false}) {
            ways.add(asked.by(asked.engine(), direct));
            ways.add(asked.by(FioRequest.PLAIN, direct));
        }
        Ended last = null;
        for (FioRequest way : ways) {
            Boolean known = works.get(way.how());
            if (known == null) {
                last = start(new FioRequest(FioJob.SEQ_READ, 1 << 20, PROBE_MILLIS, way.engine(),
                        way.direct(), 1), folder);
                if (last.code != 0 && DiskFullException.isMeantBy(last.output)) {
                    throw last.failure();
                }
                known = last.code == 0;
                works.put(way.how(), known);
            }
            if (known) {
                return way;
            }
        }
        throw missing("a fio that cannot run" + (last == null ? "." : ": " + last.words()));
    }

    private static Refusal missing(String what) {
        return new Refusal(HttpStatus.NOT_IMPLEMENTED, "no-fio", "This host has " + what);
    }

    private Ended start(FioRequest request, Path folder) throws IOException {
        Path file = folder.resolve("job.fio");
        Path report = folder.resolve("report.json");
        Path output = folder.resolve("fio.txt");
        try (InputStream in = Fio.class.getResourceAsStream(request.job().label() + ".fio")) {
            Files.write(file, in.readAllBytes());
        }
        ProcessBuilder builder = new ProcessBuilder(List.of(program, "--output-format=json",
                "--output=" + report, "--eta=never", file.toString()))
                .directory(folder.toFile())
                .redirectErrorStream(true).redirectOutput(output.toFile());
        builder.environment().putAll(Map.of(
                "DISK_SIZE", Long.toString(request.bytes()),
                "DISK_RUNTIME", request.runtimeMillis() + "ms",
                "DISK_ENGINE", request.engine(),
                "DISK_DIRECT", request.direct() ? "1" : "0",
                "DISK_DEPTH", Integer.toString(request.depth())));
        Process process;
        try {
            process = builder.start();
        } catch (IOException e) {
            throw missing("no fio: install the package fio, or name the program with "
                    + "refstack.disk.fio.");
        }
        try {
            if (!process.waitFor(request.runtimeMillis() / 1000 + GRACE_S, TimeUnit.SECONDS)) {
                throw new IOException("fio did not end in time");
            }
            return new Ended(process.exitValue(), read(report), read(output));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("the node ends, and fio with it", e);
        } finally {
            process.destroyForcibly();
            Files.deleteIfExists(report);
        }
    }

    private static String read(Path file) throws IOException {
        return Files.exists(file) ? Files.readString(file, StandardCharsets.ISO_8859_1) : "";
    }

    /** How fio ended; its report begins with the first brace, remarks may stand before it. */
    private record Ended(int code, String report, String output) {

        Ended {
            int brace = report.indexOf('{');
            output += brace < 0 ? report : report.substring(0, brace);
            report = brace < 0 ? "" : report.substring(brace);
        }

        String words() {
            String words = output.isBlank() ? "exit code " + code : output.strip();
            int end = words.indexOf('\n');
            words = end < 0 ? words : words.substring(0, end);
            return words.length() > MAX_WORDS ? words.substring(0, MAX_WORDS) : words;
        }

        /** A full disk says so in the output, whichever operation met it. */
        RuntimeException failure() throws IOException {
            if (DiskFullException.isMeantBy(output)) {
                return new DiskFullException("The disk became full while fio worked.");
            }
            throw new IOException("fio failed: " + words());
        }
    }
}
