package refstack.odata;

import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.Calendar;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TimeZone;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.olingo.odata2.api.edm.EdmEntityType;
import org.apache.olingo.odata2.api.edm.EdmException;
import org.apache.olingo.odata2.api.edm.EdmLiteralKind;
import org.apache.olingo.odata2.api.edm.EdmProperty;
import org.apache.olingo.odata2.api.edm.EdmSimpleType;
import refstack.core.RecordFields;

/**
 * Values as Olingo wants them: dates and times as {@link Calendar} in UTC, the rest unchanged.
 */
final class EdmValues {

    private static final Map<Class<?>, RecordFields> FIELDS = new ConcurrentHashMap<>();
    private static final TimeZone UTC = TimeZone.getTimeZone("GMT");

    private EdmValues() {
    }

    /** The properties of an entity, straight from the fields of a record. */
    static Map<String, Object> of(Record value) {
        Map<String, Object> properties = new HashMap<>();
        for (RecordFields.Field field : fieldsOf(value).all()) {
            properties.put(field.name(), of(field.read(value)));
        }
        return properties;
    }

    /** The properties of an entity, out of text, by the types of the model. */
    static Map<String, Object> of(List<GenericDocument.Row> rows, EdmEntityType type)
            throws EdmException {
        Map<String, Object> properties = new HashMap<>();
        for (GenericDocument.Row row : rows) {
            EdmProperty property = (EdmProperty) type.getProperty(row.name());
            EdmSimpleType simple = (EdmSimpleType) property.getType();
            properties.put(row.name(), simple.valueOfString(row.value(),
                    EdmLiteralKind.DEFAULT, property.getFacets(), simple.getDefaultType()));
        }
        return properties;
    }

    static RecordFields fieldsOf(Record value) {
        return FIELDS.computeIfAbsent(value.getClass(),
                type -> RecordFields.of(type.asSubclass(Record.class)));
    }

    static Object of(Object value) {
        if (value instanceof LocalDate date) {
            return calendar(date.atStartOfDay().toInstant(ZoneOffset.UTC));
        }
        if (value instanceof LocalTime time) {
            return calendar(time.atDate(LocalDate.EPOCH).toInstant(ZoneOffset.UTC));
        }
        return value instanceof Instant instant ? calendar(instant) : value;
    }

    private static Calendar calendar(Instant instant) {
        Calendar calendar = Calendar.getInstance(UTC);
        calendar.clear();
        calendar.setTimeInMillis(instant.toEpochMilli());
        return calendar;
    }
}
