package refstack.disk;

import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * Files to be written: how many, between which sizes, drawn from which seed. Equal sets are equal
 * to the byte.
 *
 * @param name  name of the set, a tag of the metrics
 * @param files how many
 * @param least smallest size in bytes
 * @param most  largest size in bytes
 * @param seed  of sizes and contents
 */
record FileSet(String name, int files, long least, long most, long seed) {

    static final int MAX_FILES = 100_000;
    private static final long MAX_SIZE = 1L << 40;
    private static final long KILO = 1024;

    /** The report's three sets, a file or a hundred of each. */
    private static final Map<String, FileSet> KNOWN = Map.of(
            "small", new FileSet("small", 100, 512, KILO * KILO, 1),
            "medium", new FileSet("medium", 100, 110 * KILO, 120 * KILO, 1),
            "large", new FileSet("large", 1, KILO * KILO * KILO, KILO * KILO * KILO, 1));

    FileSet {
        if (files < 1 || files > MAX_FILES) {
            throw new IllegalArgumentException("files must be from 1 to " + MAX_FILES + ".");
        }
        if (least < 1 || most < least || most > MAX_SIZE) {
            throw new IllegalArgumentException("least and most must be sizes in bytes: 1 or more, "
                    + "the first not above the second, at most a terabyte.");
        }
    }

    /** The set of that name, with what a request changes of it; null if there is none. */
    static FileSet of(String name, Integer files, Long least, Long most, long seed) {
        FileSet known = KNOWN.get(name);
        return known == null ? null : new FileSet(name, files == null ? known.files : files,
                least == null ? known.least : least, most == null ? known.most : most, seed);
    }

    /** Names of the sets that there are. */
    static Set<String> names() {
        return KNOWN.keySet();
    }

    /**
     * Size of each file in bytes. Their logarithms are uniform: many small files and few large
     * ones, as in folders of programs; between near limits the sizes themselves are.
     */
    long[] sizes() {
        SplittableRandom random = new SplittableRandom(seed);
        double span = Math.log((double) most / least);
        long[] sizes = new long[files];
        for (int i = 0; i < files; i++) {
            long size = Math.round(least * Math.exp(span * random.nextDouble()));
            sizes[i] = Math.min(most, Math.max(least, size));
        }
        return sizes;
    }
}
