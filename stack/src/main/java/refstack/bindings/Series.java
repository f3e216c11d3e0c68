package refstack.bindings;

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
    record Answer(String id, String way, long bytes, String checksum, int calls, long firstNs,
            Long meanNs, Long minNs, Long maxNs, String thread, String pool, String node,
            String sender, long heapTotal, long heapFree) {
    }

    Answer answer(String sender) {
        boolean hasMore = calls > 1;
        return new Answer(last.id(), binding.way(), last.bytes(),
                String.format("%08x", last.checksum()), calls, firstNanos,
                hasMore ? sumNanos / (calls - 1) : null, hasMore ? minNanos : null,
                hasMore ? maxNanos : null, last.thread(), last.pool(), last.node(), sender,
                Runtime.getRuntime().totalMemory(), Runtime.getRuntime().freeMemory());
    }
}
