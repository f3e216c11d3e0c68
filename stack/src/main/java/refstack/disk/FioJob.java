package refstack.disk;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** A job file of fio, and what may be set in it. */
enum FioJob {

    /** The file once, in pieces of a megabyte; forced to disk at the end, within its time. */
    SEQ_WRITE(4, Set.of(Direction.WRITE)),

    /** The same, read. */
    SEQ_READ(4, Set.of(Direction.READ)),

    /** Blocks of 4 KB at random places. */
    RAND_READ(16, Set.of(Direction.READ)),

    /** The same, written. */
    RAND_WRITE(16, Set.of(Direction.WRITE)),

    /** Blocks of 8 KB one after the other, each forced to disk: the log of a database. */
    LOG(1, Set.of(Direction.WRITE, Direction.SYNC));

    private final int depth;
    private final Set<Direction> directions;

    FioJob(int depth, Set<Direction> directions) {
        this.depth = depth;
        this.directions = directions;
    }

    /** Name of the job, and of its file. */
    String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Operations under way at a time, if the request does not say. */
    int depth() {
        return depth;
    }

    Set<Direction> directions() {
        return directions;
    }

    /** The job of that name; null if there is none. */
    static FioJob of(String label) {
        return Arrays.stream(values()).filter(job -> job.label().equals(label)).findFirst()
                .orElse(null);
    }

    static List<String> labels() {
        return Arrays.stream(values()).map(FioJob::label).toList();
    }
}
