package refstack.odata;

import java.io.ByteArrayInputStream;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.olingo.odata2.api.ODataCallback;
import org.apache.olingo.odata2.api.ODataService;
import org.apache.olingo.odata2.api.ODataServiceFactory;
import org.apache.olingo.odata2.api.commons.ODataHttpMethod;
import org.apache.olingo.odata2.api.edm.Edm;
import org.apache.olingo.odata2.api.exception.ODataException;
import org.apache.olingo.odata2.api.processor.ODataContext;
import org.apache.olingo.odata2.api.processor.ODataErrorCallback;
import org.apache.olingo.odata2.api.processor.ODataRequest;
import org.apache.olingo.odata2.api.processor.ODataResponse;
import org.apache.olingo.odata2.api.uri.PathSegment;
import org.apache.olingo.odata2.core.ODataContextImpl;
import org.apache.olingo.odata2.core.ODataPathSegmentImpl;
import org.apache.olingo.odata2.core.ODataRequestHandler;
import org.apache.olingo.odata2.core.PathInfoImpl;
import org.apache.olingo.odata2.core.processor.ODataSingleProcessorService;
import org.apache.olingo.odata2.core.servlet.RestUtil;
import refstack.core.FlightBackend;

/** Answers one GET in one mode, knowing nothing of HTTP servers. */
class ODataEngine {

    private final Mode mode;
    private final FlightBackend backend;

    ODataEngine(Mode mode, FlightBackend backend) {
        this.mode = mode;
        this.backend = backend;
    }

    /**
     * A request for a resource of the service.
     *
     * @param serviceRoot root of the service as the client addressed it, ending in a slash
     * @param path        what follows the root, still percent-encoded
     * @param query       the query, still percent-encoded, or null
     * @param accept      the Accept header, or null
     * @param headers     all headers
     */
    record Get(URI serviceRoot, String path, String query, String accept,
            Map<String, List<String>> headers) {

        URI uri() {
            return URI.create(serviceRoot + path + (query == null ? "" : "?" + query));
        }
    }

    /** The answer; failures are answers too, in OData's error format. */
    ODataResponse answer(Get get) throws ODataException {
        ODataRequest request = request(get);
        Edm model = mode.model();
        ODataServiceFactory factory = new Factory(model);
        ODataContextImpl context = new ODataContextImpl(request, factory);
        ODataService service = factory.createService(context);
        context.setService(service);
        service.getProcessor().setContext(context);
        return new ODataRequestHandler(factory, service, context).handle(request);
    }

    private static ODataRequest request(Get get) {
        PathInfoImpl path = new PathInfoImpl();
        path.setServiceRoot(get.serviceRoot());
        path.setRequestUri(get.uri());
        path.setODataPathSegment(segments(get.path()));
        return ODataRequest.method(ODataHttpMethod.GET).httpMethod("GET")
                .requestHeaders(get.headers())
                .pathInfo(path)
                .body(new ByteArrayInputStream(new byte[0]))
                .allQueryParameters(RestUtil.extractAllQueryParameters(get.query(), null))
                .acceptHeaders(RestUtil.extractAcceptHeaders(get.accept()))
                .acceptableLanguages(new ArrayList<>())
                .build();
    }

    private static List<PathSegment> segments(String path) {
        if (path.isEmpty()) {
            return List.of(new ODataPathSegmentImpl("", null));
        }
        return List.of(path.split("/", -1)).stream()
                .map(segment -> (PathSegment) new ODataPathSegmentImpl(segment, null)).toList();
    }

    /** Gives Olingo the model of the mode, which would otherwise make one in each request. */
    private final class Factory extends ODataServiceFactory {

        private final Edm model;

        Factory(Edm model) {
            this.model = model;
        }

        @Override
        public ODataService createService(ODataContext context) {
            return new ODataSingleProcessorService(null, new FlightProcessor(mode, backend)) {
                @Override
                public Edm getEntityDataModel() {
                    return model;
                }
            };
        }

        @Override
        public <T extends ODataCallback> T getCallback(Class<T> type) {
            return type == ODataErrorCallback.class ? type.cast(new ErrorTexts())
                    : super.getCallback(type);
        }
    }
}
