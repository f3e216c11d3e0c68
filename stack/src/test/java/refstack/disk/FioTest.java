package refstack.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import refstack.answers.Refusal;
import tools.jackson.databind.json.JsonMapper;

/** How fio is asked, and what is made of its answers, with programs that stand in for it. */
class FioTest {

    private static final String REPORT = """
            {"jobs":[{"read":{"io_bytes":0},"write":{"io_bytes":81920,"total_ios":10,"runtime":20,
            "clat_ns":{"mean":500000.0,"percentile":{"50.000000":400000,"99.000000":900000}}},
            "sync":{"total_ios":0,"lat_ns":{"N":9,"mean":1000000.0,
            "percentile":{"50.000000":800000}}}}]}
            """;

    @TempDir
    private Path folder;

    /** A program that refuses with a message what the pattern matches, and reports otherwise. */
    private Fio standIn(String refused, String message) throws IOException {
        Path program = folder.resolve("fio");
        Files.writeString(folder.resolve("canned.json"), "fio: a remark\n" + REPORT);
        Files.writeString(program, """
                #!/bin/sh
                case "$DISK_ENGINE-$DISK_DIRECT-$DISK_SIZE" in
                  %s) echo 'fio: %s' >&2; exit 1 ;;
                esac
                for word in "$@"; do
                  case "$word" in --output=*) cp '%s' "${word#--output=}" ;; esac
                done
                """.formatted(refused, message, folder.resolve("canned.json")));
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
        return new Fio(program.toString(), JsonMapper.builder().build());
    }

    private Outcome run(Fio fio) throws IOException {
        try (Scratch scratch = Scratch.in(folder.resolve("data"))) {
            return fio.run(new FioRequest(FioJob.LOG, 5 << 20, 100, "libaio", true, 4), scratch);
        }
    }

    @Test
    void theReportIsReadWithItsUnits() throws IOException {
        Outcome outcome = run(standIn("never", ""));
        assertThat(outcome.how()).isEqualTo("libaio direct");
        assertThat(outcome.told()).containsEntry("asAsked", true).containsEntry("depth", 4);
        Done write = outcome.done().get(Direction.WRITE);
        assertThat(write.bytes()).isEqualTo(81920);
        assertThat(write.seconds()).isEqualTo(0.02);
        assertThat(write.waited()).isEqualTo(0.005);
        assertThat(write.p99()).isEqualTo(0.0009);
        Done sync = outcome.done().get(Direction.SYNC);
        assertThat(sync.operations()).isEqualTo(9);
        assertThat(sync.p50()).isEqualTo(0.0008);
        assertThat(sync.told()).containsEntry("p99Ms", null).containsEntry("mbPerS", null);
    }

    @Test
    void theNextBestWayIsTakenAndTold() throws IOException {
        Outcome plain = run(standIn("libaio-*", "engine libaio not loadable"));
        assertThat(plain.how()).isEqualTo("psync direct");
        assertThat(plain.told()).containsEntry("asAsked", false).containsEntry("depth", 1);
        assertThat(run(standIn("*-1-*", "looks like your file system does not support direct=1"))
                .how()).isEqualTo("libaio cached");
        assertThat(run(standIn("libaio-*|*-1-*", "neither")).how()).isEqualTo("psync cached");
    }

    @Test
    void aFioThatCannotRunIsNone() {
        assertThatThrownBy(() -> run(standIn("*", "shmget: Function not implemented")))
                .isInstanceOf(Refusal.class).hasMessageContaining("shmget");
    }

    @Test
    void aDiskThatBecomesFullIsNoFailureOfFio() {
        assertThatThrownBy(() -> run(standIn("*-5242880", "error=No space left on device")))
                .isInstanceOf(DiskFullException.class);
        assertThatThrownBy(() -> run(standIn("*-5242880", "error=Remote I/O error")))
                .isInstanceOf(IOException.class).hasMessageContaining("Remote I/O error");
        assertThat(folder.resolve("data")).isEmptyDirectory();
    }
}
