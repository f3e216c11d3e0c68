package refstack.xml;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import refstack.core.DocumentTransformation;
import refstack.core.RefusedDocumentException;
import refstack.core.RefusedDocumentException.Reason;
import refstack.core.UnknownWayException;

/** Transforms in the calling thread, counts what that took, and stores the row. */
class DocumentTransformer implements DocumentTransformation {

    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9.:_-]{1,64}");

    private final Map<String, Transformation> ways = new HashMap<>();
    private final List<String> names = new ArrayList<>();
    private final DocumentStore store;
    private final DocumentMetrics metrics;
    private final int maxBytes;
    private final ThreadMXBean threads =
            (ThreadMXBean) ManagementFactory.getThreadMXBean();

    DocumentTransformer(List<Transformation> transformations, DocumentStore store,
            DocumentMetrics metrics, int maxBytes) {
        for (Transformation each : transformations) {
            ways.put(each.way(), each);
            names.add(each.way());
        }
        this.store = store;
        this.metrics = metrics;
        this.maxBytes = maxBytes;
    }

    @Override
    public int maxBytes() {
        return maxBytes;
    }

    @Override
    public Receipt accept(String id, String way, byte[] document) {
        Transformation transformation = ways.get(way);
        if (transformation == null) {
            throw new UnknownWayException(names);
        }
        if (!PLAIN.matcher(id).matches()) {
            throw new IllegalArgumentException("The id must have 1 to 64 letters, digits, points, "
                    + "colons, hyphens and underscores.");
        }
        try {
            if (document.length > maxBytes) {
                throw new RefusedDocumentException(Reason.SIZE,
                        "A document has at most " + maxBytes + " bytes.");
            }
            return transform(id, transformation, document);
        } catch (RefusedDocumentException e) {
            metrics.refused(e.reason());
            throw e;
        }
    }

    private Receipt transform(String id, Transformation transformation, byte[] document) {
        String way = transformation.way();
        long begin = System.nanoTime();
        long beginCpu = threads.getCurrentThreadCpuTime();
        long beginBytes = threads.getCurrentThreadAllocatedBytes();
        CanonicalResult result = new CanonicalResult();
        transformation.transform(document, result);
        byte[] canonical = result.bytes();
        String sha256 = CanonicalResult.sha256(canonical);
        metrics.transformed(way, System.nanoTime() - begin,
                threads.getCurrentThreadCpuTime() - beginCpu,
                threads.getCurrentThreadAllocatedBytes() - beginBytes,
                document.length, canonical.length);
        boolean isNew = store.add(id, way, result, document.length, canonical.length, sha256);
        metrics.stored(way, isNew);
        return new Receipt(id, way, result.rows(), result.total(), document.length,
                canonical.length, sha256, isNew);
    }
}
