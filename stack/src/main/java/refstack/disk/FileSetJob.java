package refstack.disk;

import com.sun.nio.file.ExtendedOpenOption;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * Writes a set of files, forces them to disk, and reads them back twice: past the page cache, where
 * the file system has direct I/O, and through it. Names and attributes of the files stay in the
 * system's memory all the same; only bytes are read past it. Every byte that is read is compared,
 * outside of what is timed.
 */
class FileSetJob {

    private static final int FILES_A_FOLDER = 100;

    private final FileSet set;
    private final long[] sizes;
    private final Path folder;
    private final Content content;

    FileSetJob(FileSet set, Scratch scratch) {
        this.set = set;
        this.sizes = set.sizes();
        this.folder = scratch.folder();
        this.content = new Content(set.seed());
    }

    Outcome run() throws IOException {
        Map<Direction, Done> done = new EnumMap<>(Direction.class);
        done.put(Direction.WRITE, write());
        done.put(Direction.SYNC, sync());
        int block = blockOfDirectReads();
        if (block > 0) {
            done.put(Direction.READ, read(block, Set.of(StandardOpenOption.READ,
                    ExtendedOpenOption.DIRECT)));
        }
        done.put(Direction.REREAD, read(1, Set.of(StandardOpenOption.READ)));
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("files", set.files());
        told.put("bytes", done.get(Direction.WRITE).bytes());
        told.put("intact", true);
        told.put("direct", block > 0);
        return new Outcome(block > 0 ? Outcome.FILES_DIRECT : Outcome.FILES_CACHED, done, told);
    }

    private Path path(int file) {
        return folder.resolve("d" + file / FILES_A_FOLDER).resolve("f" + file);
    }

    private Done write() throws IOException {
        Tally tally = new Tally();
        for (int file = 0; file < sizes.length; file++) {
            long start = System.nanoTime();
            if (file % FILES_A_FOLDER == 0) {
                Files.createDirectory(path(file).getParent());
            }
            FileChannel channel = FileChannel.open(path(file), StandardOpenOption.CREATE_NEW,
                    StandardOpenOption.WRITE);
            try (channel) {
                long left = sizes[file];
                for (long number = 0; left > 0; number++) {
                    ByteBuffer piece = content.piece(file, number,
                            (int) Math.min(left, Content.PIECE));
                    int length = piece.remaining();
                    while (piece.hasRemaining()) {
                        channel.write(piece);
                    }
                    left -= length;
                    if (left == 0) {
                        channel.close();
                    }
                    long end = System.nanoTime();
                    tally.add(end - start, length);
                    start = end;
                }
            }
        }
        return tally.done(null);
    }

    /** Forces each file, then the folders that list them; a folder counts as an operation, too. */
    private Done sync() throws IOException {
        Tally tally = new Tally();
        for (int file = 0; file < sizes.length; file++) {
            force(path(file), StandardOpenOption.WRITE, tally);
        }
        for (int file = 0; file < sizes.length; file += FILES_A_FOLDER) {
            force(path(file).getParent(), StandardOpenOption.READ, tally);
        }
        force(folder, StandardOpenOption.READ, tally);
        return tally.done(null);
    }

    private static void force(Path path, OpenOption how, Tally tally) throws IOException {
        long start = System.nanoTime();
        try (FileChannel channel = FileChannel.open(path, how)) {
            channel.force(true);
        }
        tally.add(System.nanoTime() - start, 0);
    }

    private Done read(int block, Set<OpenOption> how) throws IOException {
        Tally tally = new Tally();
        ByteBuffer buffer = ByteBuffer.allocateDirect(Content.PIECE + block).alignedSlice(block);
        Long before = ProcessReads.bytes();
        for (int file = 0; file < sizes.length; file++) {
            long start = System.nanoTime();
            try (FileChannel channel = FileChannel.open(path(file), how)) {
                long left = sizes[file];
                for (long number = 0; left > 0; number++) {
                    int length = (int) Math.min(left, Content.PIECE);
                    fill(channel, buffer.clear().limit(Content.PIECE), length);
                    left -= length;
                    if (left == 0) {
                        channel.close();
                    }
                    tally.add(System.nanoTime() - start, length);
                    if (buffer.flip().mismatch(content.piece(file, number, length)) != -1) {
                        throw new IOException("a file came back with other bytes than were written");
                    }
                    start = System.nanoTime();
                }
            }
        }
        return tally.done(ProcessReads.since(before));
    }

    /** A direct read comes whole or ends the file: its position must stay a multiple of a block. */
    private static void fill(FileChannel channel, ByteBuffer buffer, int length)
            throws IOException {
        while (buffer.position() < length && channel.read(buffer) > 0) {
            // Goes on until the piece is whole.
        }
        if (buffer.position() != length) {
            throw new IOException("a file came back with " + buffer.position() + " bytes instead of "
                    + length);
        }
    }

    /** Multiple of which positions of direct reads must be; 0 if the file system has none. */
    private int blockOfDirectReads() throws IOException {
        try {
            int block = (int) Files.getFileStore(folder).getBlockSize();
            if (Integer.bitCount(block) != 1 || block > Content.PIECE) {
                return 0;
            }
            try (FileChannel channel = FileChannel.open(path(0), StandardOpenOption.READ,
                    ExtendedOpenOption.DIRECT)) {
                channel.read(ByteBuffer.allocateDirect(2 * block).alignedSlice(block)
                        .limit(block));
                return block;
            }
        } catch (UnsupportedOperationException | IOException e) {
            // open(2) fails with EINVAL where there is no direct I/O. A file that cannot be read
            // at all fails again when it is read through the cache.
            return 0;
        }
    }
}
