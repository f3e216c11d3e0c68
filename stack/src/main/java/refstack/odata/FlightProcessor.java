package refstack.odata;

import java.net.URI;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Calendar;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.apache.olingo.odata2.api.commons.HttpStatusCodes;
import org.apache.olingo.odata2.api.commons.InlineCount;
import org.apache.olingo.odata2.api.edm.EdmEntitySet;
import org.apache.olingo.odata2.api.edm.EdmException;
import org.apache.olingo.odata2.api.edm.EdmLiteralKind;
import org.apache.olingo.odata2.api.edm.EdmProperty;
import org.apache.olingo.odata2.api.edm.EdmSimpleType;
import org.apache.olingo.odata2.api.ep.EntityProvider;
import org.apache.olingo.odata2.api.ep.EntityProviderWriteProperties;
import org.apache.olingo.odata2.api.exception.ODataApplicationException;
import org.apache.olingo.odata2.api.exception.ODataException;
import org.apache.olingo.odata2.api.exception.ODataNotFoundException;
import org.apache.olingo.odata2.api.exception.ODataNotImplementedException;
import org.apache.olingo.odata2.api.processor.ODataResponse;
import org.apache.olingo.odata2.api.processor.ODataSingleProcessor;
import org.apache.olingo.odata2.api.uri.ExpandSelectTreeNode;
import org.apache.olingo.odata2.api.uri.KeyPredicate;
import org.apache.olingo.odata2.api.uri.SelectItem;
import org.apache.olingo.odata2.api.uri.UriParser;
import org.apache.olingo.odata2.api.uri.info.GetEntitySetUriInfo;
import org.apache.olingo.odata2.api.uri.info.GetEntityUriInfo;
import refstack.core.Flight;
import refstack.core.FlightBackend;
import refstack.core.FlightKey;
import refstack.core.FlightSummary;
import refstack.core.MalformedKeyException;
import refstack.core.RecordFields;

/**
 * Reads flights for Olingo. Understands {@code $format}, {@code $select}, {@code $top} and
 * {@code $skip}; refuses the other options with 501 rather than ignore them.
 *
 * <p>A list that selects no more than {@link FlightSummary} has is one call of the back end. Any
 * other list needs one more call for each flight in it: the back end has no list of details.
 */
class FlightProcessor extends ODataSingleProcessor {

    private static final Set<String> SUMMARY =
            new HashSet<>(RecordFields.of(FlightSummary.class).names());

    private final Mode mode;
    private final FlightBackend backend;

    FlightProcessor(Mode mode, FlightBackend backend) {
        this.mode = mode;
        this.backend = backend;
    }

    @Override
    public ODataResponse readEntity(GetEntityUriInfo uri, String contentType)
            throws ODataException {
        refuse(!uri.getNavigationSegments().isEmpty() || !uri.getExpand().isEmpty());
        FlightKey key = key(uri.getKeyPredicates());
        Flight flight = backend.detail(key)
                .orElseThrow(() -> new ODataNotFoundException(ODataNotFoundException.ENTITY));
        EdmEntitySet target = uri.getTargetEntitySet();
        return EntityProvider.writeEntry(contentType, target,
                mode.entity(flight, target.getEntityType()), writing(uri.getSelect()));
    }

    @Override
    public ODataResponse readEntitySet(GetEntitySetUriInfo uri, String contentType)
            throws ODataException {
        refuse(uri.getFilter() != null || uri.getOrderBy() != null || !uri.getExpand().isEmpty()
                || uri.getSkipToken() != null || uri.getNavigationSegments().size() > 1
                || uri.getInlineCount() == InlineCount.ALLPAGES);
        List<FlightSummary> flights = page(summaries(uri), uri.getSkip(), uri.getTop());
        EdmEntitySet target = uri.getTargetEntitySet();
        List<Map<String, Object>> entities = new ArrayList<>(flights.size());
        boolean summaryIsEnough = isInSummary(uri.getSelect());
        for (FlightSummary flight : flights) {
            Record value = summaryIsEnough ? flight : backend.detail(flight.key()).orElseThrow();
            entities.add(mode.entity(value, target.getEntityType()));
        }
        return FeedTime.fix(EntityProvider.writeFeed(contentType, target, entities,
                writing(uri.getSelect())), flights);
    }

    /** All flights, or those of the same connection if the path goes over a flight. */
    private List<FlightSummary> summaries(GetEntitySetUriInfo uri) throws ODataException {
        List<FlightSummary> all = backend.list();
        if (uri.getNavigationSegments().isEmpty()) {
            return all;
        }
        FlightKey source = key(uri.getKeyPredicates());
        List<FlightSummary> sameConnection = all.stream()
                .filter(flight -> flight.carrid().equals(source.carrid()))
                .filter(flight -> flight.connid().equals(source.connid())).toList();
        if (sameConnection.stream().noneMatch(flight -> flight.key().equals(source))) {
            throw new ODataNotFoundException(ODataNotFoundException.ENTITY);
        }
        return sameConnection.stream().filter(flight -> !flight.key().equals(source)).toList();
    }

    private static List<FlightSummary> page(List<FlightSummary> all, Integer skip, Integer top) {
        int from = Math.min(skip == null ? 0 : skip, all.size());
        int size = Math.min(top == null ? all.size() : top, all.size() - from);
        return all.subList(from, from + size);
    }

    private static boolean isInSummary(List<SelectItem> select) throws EdmException {
        for (SelectItem item : select) {
            if (item.isStar() || !item.getNavigationPropertySegments().isEmpty()
                    || !SUMMARY.contains(item.getProperty().getName())) {
                return false;
            }
        }
        return !select.isEmpty();
    }

    private EntityProviderWriteProperties writing(List<SelectItem> select) throws ODataException {
        URI root = getContext().getPathInfo().getServiceRoot();
        EntityProviderWriteProperties.ODataEntityProviderPropertiesBuilder properties =
                EntityProviderWriteProperties.serviceRoot(root);
        if (!select.isEmpty()) {
            ExpandSelectTreeNode tree = UriParser.createExpandSelectTree(select, List.of());
            properties.expandSelectTree(tree);
        }
        return properties.build();
    }

    private static FlightKey key(List<KeyPredicate> predicates) throws ODataException {
        Map<String, String> literals = new HashMap<>();
        for (KeyPredicate predicate : predicates) {
            literals.put(predicate.getProperty().getName(), predicate.getLiteral());
        }
        try {
            EdmProperty date = dateOf(predicates);
            Calendar day = ((EdmSimpleType) date.getType()).valueOfString(literals.get("fldate"),
                    EdmLiteralKind.DEFAULT, date.getFacets(), Calendar.class);
            return new FlightKey(literals.get("carrid"), literals.get("connid"),
                    LocalDate.ofInstant(day.toInstant(), ZoneOffset.UTC));
        } catch (MalformedKeyException e) {
            throw new ODataApplicationException(e.getMessage(), Locale.ENGLISH,
                    HttpStatusCodes.BAD_REQUEST);
        }
    }

    private static EdmProperty dateOf(List<KeyPredicate> predicates) throws EdmException {
        for (KeyPredicate predicate : predicates) {
            if (predicate.getProperty().getName().equals("fldate")) {
                return predicate.getProperty();
            }
        }
        throw new IllegalStateException("Olingo checks that the key is complete");
    }

    private static void refuse(boolean unsupported) throws ODataNotImplementedException {
        if (unsupported) {
            throw new ODataNotImplementedException();
        }
    }
}
