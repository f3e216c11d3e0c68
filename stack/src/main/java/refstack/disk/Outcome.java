package refstack.disk;

import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What came of a job.
 *
 * @param how  how it was done, in words of the metrics: {@code libaio direct}, {@code files cached}
 * @param done by direction; a direction that was not possible is missing
 * @param told further facts for the client, in order
 */
record Outcome(String how, Map<Direction, Done> done, Map<String, Object> told) {

    /** Sets of files, read past the page cache if that is possible. */
    static final String FILES_DIRECT = "files direct";
    static final String FILES_CACHED = "files cached";

    /** Every way to the disk that there is. */
    static final Set<String> WAYS = Stream.concat(Stream.of(FILES_DIRECT, FILES_CACHED),
            FioRequest.ENGINES.stream().flatMap(engine ->
                    Stream.of(FioRequest.how(engine, true), FioRequest.how(engine, false))))
            .collect(Collectors.toUnmodifiableSet());
}
