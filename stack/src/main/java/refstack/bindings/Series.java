package refstack.bindings;

import java.util.LinkedHashMap;
import java.util.Map;
import refstack.core.BackendUnavailableException;

/** Calls of one request, one after the other: what they took and what the last reply said. */
class Series {

    private final Binding binding;
    private final Payload payload;
    private final long expected;
    private Reply last;
    private long firstNanos;
    private long sumNanos;
    private long minNanos = Long.MAX_VALUE;
    private long maxNanos;
    private int calls;

    Series(Binding binding, Payload payload) {
        this.binding = binding;
        this.payload = payload;
        this.expected = Receiver.checksum(payload.body());
    }

    /** Does one more call. Raises BackendUnavailableException if the payload arrived changed. */
    void call() {
        long begin = System.nanoTime();
        last = binding.call(payload);
        long nanos = System.nanoTime() - begin;
        if (last.checksum() != expected || last.bytes() != payload.body().length
                || !payload.id().equals(last.id())) {
            throw new BackendUnavailableException("The payload arrived changed.", null);
        }
        calls++;
        if (calls == 1) {
            firstNanos = nanos;
        } else {
            sumNanos += nanos;
            minNanos = Math.min(minNanos, nanos);
            maxNanos = Math.max(maxNanos, nanos);
        }
    }

    int calls() {
        return calls;
    }

    long firstNanos() {
        return firstNanos;
    }

    long totalNanos() {
        return firstNanos + sumNanos;
    }

    /** The answer; times after the first call are missing if there was no other. */
    Map<String, Object> answer(String sender) {
        boolean hasMore = calls > 1;
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("id", last.id());
        answer.put("way", binding.way());
        answer.put("bytes", last.bytes());
        answer.put("checksum", String.format("%08x", last.checksum()));
        answer.put("calls", calls);
        answer.put("firstNs", firstNanos);
        answer.put("meanNs", hasMore ? sumNanos / (calls - 1) : null);
        answer.put("minNs", hasMore ? minNanos : null);
        answer.put("maxNs", hasMore ? maxNanos : null);
        answer.put("thread", last.thread());
        answer.put("pool", last.pool());
        answer.put("node", last.node());
        answer.put("sender", sender);
        answer.put("heapTotal", Runtime.getRuntime().totalMemory());
        answer.put("heapFree", Runtime.getRuntime().freeMemory());
        return answer;
    }
}
