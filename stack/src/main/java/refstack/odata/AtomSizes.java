package refstack.odata;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.olingo.odata2.api.commons.HttpStatusCodes;
import org.apache.olingo.odata2.api.exception.ODataException;
import org.apache.olingo.odata2.api.processor.ODataResponse;
import refstack.core.Flight;
import refstack.core.FlightBackend;
import refstack.core.FlightKey;
import refstack.core.FlightSummary;
import refstack.core.RecordFields;
import refstack.core.ReferenceSizes;

/**
 * Sizes of the Atom documents of the standard mode, found by making each once for a server of a
 * known name. The server's name is in a document a fixed number of times, so the size for any
 * other name follows by arithmetic and one entry for each flight is enough:
 *
 * <pre>size(server) = size(known) + occurrences * (length(server) - length(known))</pre>
 *
 * <p>Right because flights do not change while a node runs; lists are told apart by length.
 */
class AtomSizes implements ReferenceSizes {

    private static final String KNOWN = "http://server/";

    private final Mode mode;
    private final ConcurrentMap<FlightKey, Size> details = new ConcurrentHashMap<>();
    private final ConcurrentMap<Integer, Size> lists = new ConcurrentHashMap<>();

    AtomSizes(Mode mode) {
        this.mode = mode;
    }

    private record Size(int bytes, int occurrences) {

        int with(URI server) {
            return bytes + occurrences * (server.toString().length() - KNOWN.length());
        }
    }

    @Override
    public int detail(Flight flight, URI server) {
        return details.computeIfAbsent(flight.key(), key -> measure(
                FlightModel.COLLECTION + "(carrid='" + key.carrid() + "',connid='" + key.connid()
                        + "',fldate=datetime'" + key.fldate() + "T00:00:00')",
                null, new Given(List.of(), flight))).with(server);
    }

    @Override
    public int list(List<FlightSummary> flights, URI server) {
        return lists.computeIfAbsent(flights.size(), size -> measure(
                FlightModel.COLLECTION, "$select=" + String.join(",",
                        RecordFields.of(FlightSummary.class).names()),
                new Given(flights, null))).with(server);
    }

    private Size measure(String path, String query, FlightBackend given) {
        URI root = URI.create(KNOWN).resolve(mode.path().substring(1) + "/");
        try {
            ODataResponse response = new ODataEngine(mode, given).answer(new ODataEngine.Get(
                    root, path, query, "application/atom+xml", Map.of()));
            if (response.getStatus() != HttpStatusCodes.OK) {
                throw new IllegalStateException("no Atom document: " + response.getStatus());
            }
            byte[] body = Bodies.bytes(response);
            return new Size(body.length, occurrences(body));
        } catch (ODataException e) {
            throw new IllegalStateException("no Atom document", e);
        }
    }

    private static int occurrences(byte[] body) {
        return new String(body, StandardCharsets.UTF_8).split(KNOWN, -1).length - 1;
    }

    /** A back end that has what is to be measured and nothing else. */
    private record Given(List<FlightSummary> list, Flight flight) implements FlightBackend {

        @Override
        public Optional<Flight> detail(FlightKey key) {
            return Optional.ofNullable(flight);
        }
    }
}
