package refstack.core;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * Keeps every answer of another back end in memory for the life of the process: the "tuned" case
 * of the report. Right only because flights never change while a node runs. Failures and keys
 * that do not exist are not kept, so the cache is never larger than the data.
 */
final class CachingBackend implements FlightBackend {

    private final FlightBackend origin;
    private final ConcurrentMap<FlightKey, Flight> details = new ConcurrentHashMap<>();
    private volatile List<FlightSummary> list;

    CachingBackend(FlightBackend origin) {
        this.origin = origin;
    }

    @Override
    public List<FlightSummary> list() {
        List<FlightSummary> known = list;
        if (known == null) {
            known = origin.list();
            list = known;
        }
        return known;
    }

    @Override
    public Optional<Flight> detail(FlightKey key) {
        Flight known = details.get(key);
        if (known != null) {
            return Optional.of(known);
        }
        Optional<Flight> found = origin.detail(key);
        found.ifPresent(flight -> details.put(key, flight));
        return found;
    }
}
