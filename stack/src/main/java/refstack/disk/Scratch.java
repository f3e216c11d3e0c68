package refstack.disk;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;

/** The folder of one job. Closing it removes all that is in it, whatever came of the job. */
class Scratch implements AutoCloseable {

    private final Path folder;

    private Scratch(Path folder) {
        this.folder = folder;
    }

    /** An empty folder below the node's data; what an earlier process left there is removed. */
    static Scratch in(Path data) throws IOException {
        Path folder = data.toAbsolutePath().resolve("disk-job");
        remove(folder);
        Files.createDirectories(folder);
        return new Scratch(folder);
    }

    Path folder() {
        return folder;
    }

    @Override
    public void close() throws IOException {
        remove(folder);
    }

    static void remove(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        Files.walkFileTree(folder, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
                    throws IOException {
                Files.delete(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path directory, IOException failure)
                    throws IOException {
                if (failure != null) {
                    throw failure;
                }
                Files.delete(directory);
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
