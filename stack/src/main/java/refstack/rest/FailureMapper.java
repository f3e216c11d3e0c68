package refstack.rest;

import jakarta.ws.rs.WebApplicationException;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.Response.Status;
import jakarta.ws.rs.ext.ExceptionMapper;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import refstack.core.BackendTimeoutException;
import refstack.core.BackendUnavailableException;
import refstack.core.MalformedKeyException;

/**
 * Every failure as a {@link Problem} in the type that the client asked for, JSON if it asked for
 * neither. What nobody foresaw is logged with its trace; the client only learns that it happened.
 */
public class FailureMapper implements ExceptionMapper<Throwable> {

    private static final Logger LOGGER = LoggerFactory.getLogger(FailureMapper.class);

    @Context
    private HttpHeaders headers;

    @Override
    public Response toResponse(Throwable failure) {
        if (failure instanceof WebApplicationException known) {
            return answer(known.getResponse(), detail(known));
        }
        if (failure instanceof MalformedKeyException) {
            return answer(Status.BAD_REQUEST, failure.getMessage());
        }
        if (failure instanceof BackendTimeoutException) {
            return answer(Status.GATEWAY_TIMEOUT, failure.getMessage());
        }
        if (failure instanceof BackendUnavailableException) {
            LOGGER.warn("{}", failure.toString());
            return answer(Status.SERVICE_UNAVAILABLE, failure.getMessage());
        }
        LOGGER.error("unexpected failure", failure);
        return answer(Status.INTERNAL_SERVER_ERROR, "An error of the server; its log says more.");
    }

    /** Our own words where Jersey only repeats the status ("HTTP 404 Not Found"). */
    private static String detail(WebApplicationException failure) {
        if (!failure.getMessage().startsWith("HTTP ")) {
            return failure.getMessage();
        }
        return switch (failure.getResponse().getStatus()) {
            case 404 -> "Nothing is served at this path.";
            case 405 -> "This resource can only be read.";
            case 406 -> "There is application/json and application/xml.";
            default -> "The request cannot be answered.";
        };
    }

    private Response answer(Status status, String detail) {
        return answer(Response.status(status).build(), detail);
    }

    /** Keeps headers of the original, such as Allow with status 405. */
    private Response answer(Response original, String detail) {
        Status status = Status.fromStatusCode(original.getStatus());
        String title = status == null ? "Error" : status.getReasonPhrase();
        return Response.fromResponse(original).type(errorType())
                .entity(new Problem(original.getStatus(), title, detail)).build();
    }

    private MediaType errorType() {
        for (MediaType accepted : headers.getAcceptableMediaTypes()) {
            if (accepted.isCompatible(MediaType.APPLICATION_JSON_TYPE)) {
                return MediaType.APPLICATION_JSON_TYPE;
            }
            if (accepted.isCompatible(MediaType.APPLICATION_XML_TYPE)) {
                return MediaType.APPLICATION_XML_TYPE;
            }
        }
        return MediaType.APPLICATION_JSON_TYPE;
    }
}
