package refstack.disk;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.springframework.http.HttpStatus;
import refstack.answers.Refusal;

/** Does disk jobs one at a time, in a folder of their own that is empty before and after each. */
class DiskJobs {

    private final Path data;
    private final DiskProperties properties;
    private final Fio fio;
    private final DiskMetrics metrics;
    private final ReentrantLock lock = new ReentrantLock(true);

    /** What is done in the folder. */
    private interface Work {

        Outcome in(Scratch scratch) throws IOException;
    }

    DiskJobs(Path data, DiskProperties properties, Fio fio, DiskMetrics metrics) {
        this.data = data;
        this.properties = properties;
        this.fio = fio;
        this.metrics = metrics;
    }

    Outcome run(FileSet set) throws IOException {
        long bytes = 0;
        for (long size : set.sizes()) {
            bytes += size;
        }
        return run(set.name(), bytes, scratch -> new FileSetJob(set, scratch).run());
    }

    Outcome run(FioRequest request) throws IOException {
        return run(request.job().label(), request.bytes(), scratch -> fio.run(request, scratch));
    }

    /** Type of the file system that the jobs work in, such as {@code ext4}. */
    String fileSystem() throws IOException {
        Files.createDirectories(data.toAbsolutePath());
        return Files.getFileStore(data.toAbsolutePath()).type();
    }

    private Outcome run(String job, long bytes, Work work) throws IOException {
        if (bytes > properties.maxJob().toBytes()) {
            throw new IllegalArgumentException("The job wants " + bytes + " bytes; at most "
                    + properties.maxJob().toBytes() + " are allowed (refstack.disk.max-job).");
        }
        if (!locked(properties.patience())) {
            throw new Refusal(HttpStatus.SERVICE_UNAVAILABLE, "busy",
                    "Another disk job is under way in this node; they are done one at a time.");
        }
        try (Scratch scratch = Scratch.in(data)) {
            checkRoom(bytes, scratch.folder());
            Outcome outcome = work.in(scratch);
            metrics.done(job, outcome);
            return outcome;
        } catch (IOException e) {
            if (DiskFullException.isMeantBy(e)) {
                throw new DiskFullException("The disk became full while the job wrote to it.");
            }
            throw e;
        } finally {
            lock.unlock();
        }
    }

    private void checkRoom(long bytes, Path folder) throws IOException {
        long free = Files.getFileStore(folder).getUsableSpace();
        long wanted = bytes + properties.spare().toBytes();
        if (free < wanted) {
            throw new DiskFullException("The disk has " + free + " bytes free; the job wants "
                    + wanted + ", with what must stay free (refstack.disk.spare).");
        }
    }

    private boolean locked(Duration wait) throws IOException {
        try {
            return lock.tryLock(wait.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("the node ends", e);
        }
    }
}
