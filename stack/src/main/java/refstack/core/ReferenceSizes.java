package refstack.core;

import java.net.URI;
import java.util.List;

/**
 * Sizes of the reference representation of flights, which other representations can be padded to.
 *
 * <p>The report's readers asked whether OData is slower only because it sends more bytes. To
 * answer that, REST sends as many; but REST must not know OData, so it asks for the size here.
 */
public interface ReferenceSizes {

    /**
     * Body bytes of the reference representation of one flight.
     *
     * @param server root of the server as the client addressed it (the representation has
     *               absolute links, so its size depends on this)
     */
    int detail(Flight flight, URI server);

    /** Body bytes of the reference representation of the list, with the summary's fields. */
    int list(List<FlightSummary> flights, URI server);
}
