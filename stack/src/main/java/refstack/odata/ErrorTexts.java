package refstack.odata;

import org.apache.olingo.odata2.api.commons.HttpStatusCodes;
import org.apache.olingo.odata2.api.ep.EntityProvider;
import org.apache.olingo.odata2.api.processor.ODataErrorCallback;
import org.apache.olingo.odata2.api.processor.ODataErrorContext;
import org.apache.olingo.odata2.api.processor.ODataResponse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import refstack.core.BackendTimeoutException;
import refstack.core.BackendUnavailableException;

/**
 * Status and text of failures in OData's error format. What nobody foresaw is logged with its
 * trace; the client only learns that it happened.
 */
class ErrorTexts implements ODataErrorCallback {

    private static final Logger LOGGER = LoggerFactory.getLogger(ErrorTexts.class);

    @Override
    public ODataResponse handleError(ODataErrorContext context) {
        Throwable failure = context.getException();
        if (failure instanceof BackendTimeoutException) {
            context.setHttpStatus(HttpStatusCodes.GATEWAY_TIMEOUT);
        } else if (failure instanceof BackendUnavailableException) {
            LOGGER.warn("{}", failure.toString());
            context.setHttpStatus(HttpStatusCodes.SERVICE_UNAVAILABLE);
        } else if (context.getHttpStatus() == HttpStatusCodes.INTERNAL_SERVER_ERROR) {
            LOGGER.error("unexpected failure", failure);
            context.setMessage("An error of the server; its log says more.");
        }
        context.setInnerError(null);
        return EntityProvider.writeErrorDocument(context);
    }
}
