package refstack.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Sizes, contents and times of sets of files. */
class FileSetTest {

    @TempDir
    private Path folder;

    @Test
    void sizesAreSeededAndWithinTheirLimits() {
        FileSet set = FileSet.of("small", 2000, null, null, 3);
        long[] sizes = set.sizes();
        assertThat(sizes).isEqualTo(set.sizes()).hasSize(2000);
        assertThat(FileSet.of("small", 2000, null, null, 4).sizes()).isNotEqualTo(sizes);
        assertThat(Arrays.stream(sizes).min().getAsLong()).isBetween(512L, 600L);
        assertThat(Arrays.stream(sizes).max().getAsLong()).isBetween(900_000L, 1L << 20);
        Arrays.sort(sizes);
        assertThat(sizes[1000]).as("the median is the geometric middle").isBetween(18_000L, 30_000L);
        assertThat(FileSet.of("none", 1, null, null, 1)).isNull();
    }

    @Test
    void piecesDifferByFileAndPlace() {
        Content content = new Content(1);
        ByteBuffer first = content.piece(0, 0, 1000);
        assertThat(first.mismatch(new Content(1).piece(0, 0, 1000))).isEqualTo(-1);
        assertThat(first.mismatch(content.piece(1, 0, 1000))).isNotEqualTo(-1);
        assertThat(first.mismatch(content.piece(0, 1, 1000))).isNotEqualTo(-1);
        assertThat(content.piece(99_999, 1L << 40, Content.PIECE).remaining())
                .isEqualTo(Content.PIECE);
    }

    @Test
    void theTallyGivesSumsAndRanks() {
        Tally tally = new Tally();
        for (int i = 1000; i > 0; i--) {
            tally.add(i * 1_000_000L, 10);
        }
        Done done = tally.done(null);
        assertThat(done.operations()).isEqualTo(1000);
        assertThat(done.bytes()).isEqualTo(10_000);
        assertThat(done.seconds()).isEqualTo(500.5);
        assertThat(done.p50()).isEqualTo(0.5);
        assertThat(done.p99()).isEqualTo(0.99);
        assertThat(new Tally().done(null).p50()).isNaN();
    }

    @Test
    void everyByteIsMovedInEachDirection() throws IOException {
        FileSet set = new FileSet("small", 101, 1, 3 << 20, 5);
        long bytes = Arrays.stream(set.sizes()).sum();
        try (Scratch scratch = Scratch.in(folder)) {
            Outcome outcome = new FileSetJob(set, scratch).run();
            outcome.done().forEach((direction, done) -> assertThat(done.bytes())
                    .as(direction.label()).isEqualTo(direction == Direction.SYNC ? 0 : bytes));
            assertThat(outcome.done().get(Direction.SYNC).operations())
                    .as("files, two folders, and the one around them").isEqualTo(104);
            assertThat(outcome.done()).containsKey(Direction.REREAD);
        }
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void whatWasLeftBehindIsRemovedFirst() throws IOException {
        Path old = Files.createDirectories(folder.resolve("disk-job").resolve("d0"));
        Files.writeString(old.resolve("f0"), "of a process that was killed");
        try (Scratch scratch = Scratch.in(folder)) {
            assertThat(scratch.folder()).isEmptyDirectory();
        }
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void onlyAFullDiskIsOne() {
        assertThat(DiskFullException.isMeantBy(new IOException("No space left on device"))).isTrue();
        assertThat(DiskFullException.isMeantBy(new IOException("Disk quota exceeded"))).isTrue();
        assertThat(DiskFullException.isMeantBy(new IOException("Input/output error"))).isFalse();
        assertThat(DiskFullException.isMeantBy(new IOException((String) null))).isFalse();
        assertThatThrownBy(() -> new FileSet("x", 1, 1, Long.MAX_VALUE, 1))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
