package refstack.odata;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.olingo.odata2.api.edm.EdmMultiplicity;
import org.apache.olingo.odata2.api.edm.EdmSimpleTypeKind;
import org.apache.olingo.odata2.api.edm.EdmTargetPath;
import org.apache.olingo.odata2.api.edm.FullQualifiedName;
import org.apache.olingo.odata2.api.edm.provider.Association;
import org.apache.olingo.odata2.api.edm.provider.AssociationEnd;
import org.apache.olingo.odata2.api.edm.provider.AssociationSet;
import org.apache.olingo.odata2.api.edm.provider.AssociationSetEnd;
import org.apache.olingo.odata2.api.edm.provider.CustomizableFeedMappings;
import org.apache.olingo.odata2.api.edm.provider.EntityContainer;
import org.apache.olingo.odata2.api.edm.provider.EntitySet;
import org.apache.olingo.odata2.api.edm.provider.EntityType;
import org.apache.olingo.odata2.api.edm.provider.Facets;
import org.apache.olingo.odata2.api.edm.provider.Key;
import org.apache.olingo.odata2.api.edm.provider.NavigationProperty;
import org.apache.olingo.odata2.api.edm.provider.Property;
import org.apache.olingo.odata2.api.edm.provider.PropertyRef;
import org.apache.olingo.odata2.api.edm.provider.Schema;
import org.apache.olingo.odata2.api.edm.provider.SimpleProperty;
import refstack.core.Flight;
import refstack.core.RecordFields;

/**
 * The entity model: one entity type out of the fields of {@link Flight}, and a navigation from a
 * flight to the flights of the same connection on other days.
 *
 * <p>The time of the last change is mapped to the entry's {@code updated} element. Otherwise
 * Olingo writes the present time there, with a changing number of digits, and no two documents
 * would be of the same size.
 */
final class FlightModel {

    static final String COLLECTION = "FlightCollection";
    static final String OTHER_DATES = "otherDates";

    private static final String NAMESPACE = "SIZEBOOK";
    private static final FullQualifiedName FLIGHT = new FullQualifiedName(NAMESPACE, "Flight");
    private static final FullQualifiedName SAME_CONNECTION =
            new FullQualifiedName(NAMESPACE, "SameConnection");
    private static final String ROLE_FROM = "flight";
    private static final String ROLE_TO = "otherFlights";
    private static final List<String> KEY = List.of("carrid", "connid", "fldate");
    private static final String CHANGED_AT = "changedAt";

    private static final Map<Class<?>, EdmSimpleTypeKind> TYPES = Map.of(
            String.class, EdmSimpleTypeKind.String,
            LocalDate.class, EdmSimpleTypeKind.DateTime,
            LocalTime.class, EdmSimpleTypeKind.Time,
            Instant.class, EdmSimpleTypeKind.DateTimeOffset,
            BigDecimal.class, EdmSimpleTypeKind.Decimal,
            int.class, EdmSimpleTypeKind.Int32);

    private FlightModel() {
    }

    /** The model, built anew at each call: Olingo's model objects can be changed. */
    static List<Schema> schemas() {
        return List.of(new Schema().setNamespace(NAMESPACE)
                .setEntityTypes(List.of(entityType()))
                .setAssociations(List.of(association()))
                .setEntityContainers(List.of(container())));
    }

    private static EntityType entityType() {
        List<Property> properties = new ArrayList<>();
        for (RecordFields.Field field : RecordFields.of(Flight.class).all()) {
            properties.add(property(field));
        }
        return new EntityType().setName(FLIGHT.getName())
                .setKey(new Key().setKeys(KEY.stream()
                        .map(name -> new PropertyRef().setName(name)).toList()))
                .setProperties(properties)
                .setNavigationProperties(List.of(new NavigationProperty().setName(OTHER_DATES)
                        .setRelationship(SAME_CONNECTION)
                        .setFromRole(ROLE_FROM).setToRole(ROLE_TO)));
    }

    private static Property property(RecordFields.Field field) {
        Facets facets = new Facets().setNullable(false);
        if (field.type() == BigDecimal.class) {
            facets.setPrecision(15).setScale(2);
        }
        SimpleProperty property = new SimpleProperty();
        property.setName(field.name()).setFacets(facets);
        property.setType(TYPES.get(field.type()));
        if (field.name().equals(CHANGED_AT)) {
            property.setCustomizableFeedMappings(new CustomizableFeedMappings()
                    .setFcTargetPath(EdmTargetPath.SYNDICATION_UPDATED)
                    .setFcKeepInContent(false));
        }
        return property;
    }

    private static Association association() {
        return new Association().setName(SAME_CONNECTION.getName())
                .setEnd1(new AssociationEnd().setType(FLIGHT).setRole(ROLE_FROM)
                        .setMultiplicity(EdmMultiplicity.ONE))
                .setEnd2(new AssociationEnd().setType(FLIGHT).setRole(ROLE_TO)
                        .setMultiplicity(EdmMultiplicity.MANY));
    }

    private static EntityContainer container() {
        EntityContainer container = new EntityContainer();
        container.setName("FlightService").setDefaultEntityContainer(true);
        container.setEntitySets(List.of(
                new EntitySet().setName(COLLECTION).setEntityType(FLIGHT)));
        container.setAssociationSets(List.of(new AssociationSet().setName("SameConnectionSet")
                .setAssociation(SAME_CONNECTION)
                .setEnd1(new AssociationSetEnd().setRole(ROLE_FROM).setEntitySet(COLLECTION))
                .setEnd2(new AssociationSetEnd().setRole(ROLE_TO).setEntitySet(COLLECTION))));
        container.setFunctionImports(List.of());
        return container;
    }
}
