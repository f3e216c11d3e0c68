package refstack.rest;

import java.net.URI;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import refstack.core.Flight;
import refstack.core.FlightKey;
import refstack.core.FlightSummary;
import refstack.core.ReferenceSizes;

/**
 * Plain XML with as many body bytes as the OData Atom representation of the same resource, to
 * tell the price of the payload from the price of making it.
 *
 * <p>Remembers how large the plain documents are, so that a padded document too is written once
 * only: flights do not change while a node runs, and lists are told apart by their length.
 */
class AtomPadding {

    private final ReferenceSizes sizes;
    private final ConcurrentMap<FlightKey, Integer> plainDetails = new ConcurrentHashMap<>();
    private final ConcurrentMap<Integer, Integer> plainLists = new ConcurrentHashMap<>();

    AtomPadding(ReferenceSizes sizes) {
        this.sizes = sizes;
    }

    /**
     * The padded detail.
     *
     * @throws IllegalArgumentException if the plain XML is already larger
     */
    byte[] detail(Flight flight, URI server) {
        int plain = plainDetails.computeIfAbsent(flight.key(),
                key -> PlainXml.element("flight", flight, Filler.NONE).length);
        Filler filler = new Filler(sizes.detail(flight, server) - plain);
        return PlainXml.element("flight", flight, filler);
    }

    /**
     * The padded list.
     *
     * @throws IllegalArgumentException if the plain XML is already larger
     */
    byte[] list(List<FlightSummary> flights, URI server) {
        int plain = plainLists.computeIfAbsent(flights.size(),
                size -> PlainXml.list(flights, Filler.NONE).length);
        return PlainXml.list(flights, new Filler(sizes.list(flights, server) - plain));
    }
}
