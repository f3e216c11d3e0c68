package refstack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import refstack.TestNode.Answer;

/** Disk jobs over HTTP: done, bounded, cleaned up after, counted; by a node without a database. */
class DiskTest {


    @TempDir
    private static Path data;
    @AutoClose
    private static TestNode node;

    @BeforeAll
    static void start() {
        node = TestNode.withoutDatabase("--refstack.parts=disk", "--refstack.node.name=d-1",
                "--refstack.node.data=" + data, "--refstack.disk.max-job=8MB");
    }

    @ParameterizedTest
    @CsvSource({"small, 30, 512, 65536", "medium, 20, 112640, 122880", "large, 2, 3000000, 3000001"})
    void aSetOfFilesIsWrittenForcedReadBackAndRemoved(String set, int files, long least, long most)
            throws IOException {
        String path = "/disk/files/" + set + "?files=" + files + "&least=" + least + "&most=" + most
                + "&seed=7";
        Answer answer = node.post(path);
        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        assertThat(answer.body()).contains("\"job\":\"" + set + "\",\"files\":" + files,
                "\"intact\":true", "\"write\":{", "\"sync\":{", "\"reread\":{",
                "\"node\":\"d-1\"");
        long bytes = number(answer, "bytes");
        assertThat(bytes).isBetween(files * least, files * most);
        assertThat(number(node.post(path), "bytes")).as("seeded").isEqualTo(bytes);
        assertEmpty();
    }

    private static long number(Answer answer, String name) {
        return Long.parseLong(answer.field(name));
    }

    private static void assertEmpty() throws IOException {
        try (Stream<Path> left = Files.list(data)) {
            assertThat(left).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"seq-write", "seq-read", "rand-read", "rand-write", "log"})
    void fioDoesAJobAndLeavesNothing(String job) throws IOException {
        assumeTrue(hasFio(), "this host has no fio");
        Answer answer = node.post("/disk/fio/" + job + "?bytes=2097152&runtime-ms=50");
        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        assertThat(answer.body()).contains("\"job\":\"" + job + "\",\"bytes\":2097152",
                job.contains("read") ? "\"read\":{" : "\"write\":{");
        assertThat(number(answer, "operations")).isPositive();
        assertThat(answer.body().contains("\"sync\":{")).isEqualTo(job.equals("log"));
        assertEmpty();
    }

    private static boolean hasFio() {
        return Arrays.stream(System.getenv("PATH").split(":"))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, "fio")));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "/disk/files/huge | 404 | small, medium and large",
        "/disk/fio/copy | 404 | seq-write, seq-read, rand-read, rand-write, log",
        "/disk/files/small?files=0 | 400 | files must be from 1",
        "/disk/files/small?least=9&most=8 | 400 | the first not above the second",
        "/disk/files/small?files=x | 400 | files must be a whole number",
        "/disk/files/large?least=9000000&most=9000000 | 400 | at most 8388608 are allowed",
        "/disk/fio/log?bytes=1 | 400 | bytes must be 1048576 or more",
        "/disk/fio/log?engine=magic | 400 | one of libaio, io_uring and psync",
        "/disk/fio/log?runtime-ms=0 | 400 | runtime-ms must be from 1"})
    void whatCannotBeAskedForIsRefused(String path, int status, String words) throws IOException {
        Answer answer = node.post(path);
        assertThat(answer.status()).as(answer.body()).isEqualTo(status);
        assertThat(answer.body()).contains("\"status\":" + status, words)
                .doesNotContain("Exception", "\\tat ");
        assertEmpty();
    }

    @Test
    void aFullDiskAndAHostWithoutFioAreToldAsSuch() throws IOException {
        try (TestNode poor = TestNode.withoutDatabase("--refstack.parts=disk",
                "--refstack.node.data=" + data, "--refstack.disk.spare=1000TB",
                "--refstack.disk.fio=no-such-program")) {
            Answer full = poor.post("/disk/files/small");
            assertThat(full.status()).isEqualTo(507);
            assertThat(full.body()).contains("The disk has ", "refstack.disk.spare");
            String metrics = poor.metrics();
            assertThat(metrics).contains("refstack_disk_refused_total{reason=\"full\"} 1.0");
        }
        try (TestNode poor = TestNode.withoutDatabase("--refstack.parts=disk",
                "--refstack.node.data=" + data, "--refstack.disk.fio=no-such-program")) {
            Answer missing = poor.post("/disk/fio/log?bytes=2097152");
            assertThat(missing.status()).isEqualTo(501);
            assertThat(missing.body()).contains("This host has no fio");
        }
        assertEmpty();
    }

    @Test
    void bytesForTheNetworkComeOutOfMemory() {
        Answer answer = node.get("/disk/network?bytes=200001");
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.bytes()).isEqualTo(200001);
        assertThat(node.get("/disk/network?bytes=0").status()).isEqualTo(400);
    }

    @Test
    void whatWasDoneShowsInTheMetrics() {
        node.post("/disk/files/medium?files=3&seed=2");
        node.get("/disk/network?bytes=1000");
        String metrics = node.metrics();
        assertThat(metrics).contains("refstack_disk_jobs_total{job=\"medium\"}",
                "refstack_disk_bytes_total{direction=\"write\",job=\"medium\"}",
                "refstack_disk_operations_total{direction=\"sync\",job=\"medium\"}",
                "refstack_disk_seconds_total{direction=\"reread\",job=\"medium\"}",
                "refstack_disk_latency_seconds{direction=\"write\",job=\"medium\",quantile=\"0.99\"}",
                "refstack_disk_sent_bytes_total ", "refstack_disk_runs_total{how=\"files ");
        assertThat(metrics).doesNotContain("hikaricp_");
    }
}
