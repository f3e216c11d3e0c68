package refstack.rest;

import jakarta.ws.rs.BadRequestException;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.NotFoundException;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.UriInfo;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import org.springframework.stereotype.Component;
import refstack.core.ConditionalOnApp;
import refstack.core.Flight;
import refstack.core.FlightBackend;
import refstack.core.FlightKey;
import refstack.core.FlightSummary;
import refstack.core.Part;
import refstack.core.ReferenceSizes;

/** The list of flights and the detail of each. */
@Path("flights")
@Component
@ConditionalOnApp(Part.REST)
public class FlightResource {

    private final FlightBackend backend;
    private final Optional<AtomPadding> padding;

    /** Takes the sizes to pad to, which a node has only with part odata. */
    FlightResource(FlightBackend backend, Optional<ReferenceSizes> sizes) {
        this.backend = backend;
        this.padding = sizes.map(AtomPadding::new);
    }

    @GET
    @Produces(MediaType.APPLICATION_JSON)
    public FlightList listAsJson(@QueryParam("pad") String pad) {
        refusePadding(pad);
        return new FlightList(backend.list());
    }

    /** The list as XML: {@link FlightList} as it is, or bytes if padded. */
    @GET
    @Produces("application/xml;qs=0.5")
    public Object listAsXml(@QueryParam("pad") String pad, @Context UriInfo uri) {
        Optional<AtomPadding> wanted = padding(pad);
        List<FlightSummary> flights = backend.list();
        return wanted.<Object>map(to -> to.list(flights, server(uri)))
                .orElseGet(() -> new FlightList(flights));
    }

    @GET
    @Path("{carrid}/{connid}/{fldate}")
    @Produces(MediaType.APPLICATION_JSON)
    public Flight detailAsJson(@PathParam("carrid") String carrid,
            @PathParam("connid") String connid, @PathParam("fldate") String fldate,
            @QueryParam("pad") String pad) {
        refusePadding(pad);
        return detail(carrid, connid, fldate);
    }

    /** The detail as XML: {@link Flight} as it is, or bytes if padded. */
    @GET
    @Path("{carrid}/{connid}/{fldate}")
    @Produces("application/xml;qs=0.5")
    public Object detailAsXml(@PathParam("carrid") String carrid,
            @PathParam("connid") String connid, @PathParam("fldate") String fldate,
            @QueryParam("pad") String pad, @Context UriInfo uri) {
        Optional<AtomPadding> wanted = padding(pad);
        Flight flight = detail(carrid, connid, fldate);
        return wanted.<Object>map(to -> to.detail(flight, server(uri))).orElse(flight);
    }

    private Flight detail(String carrid, String connid, String fldate) {
        return backend.detail(FlightKey.parse(carrid, connid, fldate))
                .orElseThrow(() -> new NotFoundException("There is no such flight."));
    }

    /** The padding that is wanted, if any. */
    private Optional<AtomPadding> padding(String pad) {
        if (pad == null) {
            return Optional.empty();
        }
        if (!"atom".equals(pad)) {
            throw new BadRequestException("pad can only be 'atom'.");
        }
        if (padding.isEmpty()) {
            throw new BadRequestException("This node has no Atom to pad to: part odata is off.");
        }
        return padding;
    }

    private static void refusePadding(String pad) {
        if (pad != null) {
            throw new BadRequestException("Only XML can be padded: ask for application/xml.");
        }
    }

    private static URI server(UriInfo uri) {
        return uri.getBaseUri().resolve("/");
    }
}
