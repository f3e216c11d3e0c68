package refstack.rest;

import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import refstack.core.Operation;

/** Names the operation of a matched request for the metrics. */
class OperationFilter implements ContainerRequestFilter {

    @Override
    public void filter(ContainerRequestContext request) {
        boolean isList = request.getUriInfo().getPathParameters().isEmpty();
        Operation.name(request::setProperty, isList ? "/rest/flights"
                : "/rest/flights/{carrid}/{connid}/{fldate}");
    }
}
