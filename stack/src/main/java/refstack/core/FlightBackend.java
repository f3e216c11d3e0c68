package refstack.core;

import java.util.List;
import java.util.Optional;

/**
 * Where flights come from. Implementations may be called by any number of threads and fail with
 * {@link BackendTimeoutException} or {@link BackendUnavailableException}.
 */
public interface FlightBackend {

    /** All flights in the order of their keys. */
    List<FlightSummary> list();

    /** The flight with this key, or nothing if there is none. */
    Optional<Flight> detail(FlightKey key);
}
