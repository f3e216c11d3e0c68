package refstack.events;

import java.io.ByteArrayInputStream;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.OffsetDateTime;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import refstack.answers.Refusal;

/**
 * Reads an event:
 *
 * <pre>{@code
 * <event id="a7-12" agent="a7" sequence="12" time="2026-01-01T00:00:00Z">
 *   <tag>line1.pressure</tag><value>12.50</value>
 * </event>
 * }</pre>
 *
 * The id may be given beside the document instead. No document type is accepted, so there are no
 * entities to expand and nothing to fetch.
 */
final class EventReader {

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._:-]{1,200}");
    private static final Pattern NUMBER = Pattern.compile("-?[0-9]{1,20}(\\.[0-9]{1,20})?");
    private static final Set<String> ATTRIBUTES = Set.of("id", "agent", "sequence", "time");
    private static final Set<String> ELEMENTS = Set.of("tag", "value");

    private final XMLInputFactory factory = XMLInputFactory.newFactory();

    EventReader() {
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        factory.setProperty(XMLInputFactory.IS_COALESCING, true);
    }

    /** The event of a body; {@code key} is its id given beside it, or null. */
    Event read(byte[] body, String key) {
        Map<String, String> fields = fields(body);
        String id = fields.get("id");
        if (key != null && id != null && !key.equals(id)) {
            throw Refusal.malformed("Idempotency-Key and id differ.");
        }
        try {
            return new Event(name("id", id == null ? key : id),
                    name("agent", fields.get("agent")),
                    Long.parseLong(needed("sequence", fields.get("sequence"))),
                    name("tag", fields.get("tag")), number(needed("value", fields.get("value"))),
                    time(needed("time", fields.get("time"))));
        } catch (NumberFormatException e) {
            throw Refusal.malformed("sequence is no whole number.");
        }
    }

    private Map<String, String> fields(byte[] body) {
        try {
            XMLStreamReader reader =
                    factory.createXMLStreamReader(new ByteArrayInputStream(body));
            try {
                return fields(reader);
            } finally {
                reader.close();
            }
        } catch (XMLStreamException e) {
            throw Refusal.malformed("The body is no well-formed XML.");
        }
    }

    private static Map<String, String> fields(XMLStreamReader reader) throws XMLStreamException {
        Map<String, String> fields = new HashMap<>();
        boolean isInside = false;
        while (reader.hasNext()) {
            switch (reader.next()) {
                case XMLStreamConstants.DTD, XMLStreamConstants.ENTITY_REFERENCE ->
                    throw Refusal.malformed("A document type is not accepted.");
                case XMLStreamConstants.START_ELEMENT -> {
                    String element = reader.getLocalName();
                    if (!isInside && element.equals("event")) {
                        isInside = true;
                        attributes(reader, fields);
                    } else if (isInside && ELEMENTS.contains(element)
                            && !fields.containsKey(element)) {
                        fields.put(element, reader.getElementText().strip());
                    } else {
                        throw Refusal.malformed("There is an unknown element.");
                    }
                }
                default -> {
                    // white space, comments and ends say nothing
                }
            }
        }
        return fields;
    }

    private static void attributes(XMLStreamReader reader, Map<String, String> fields) {
        for (int i = 0; i < reader.getAttributeCount(); i++) {
            String name = reader.getAttributeLocalName(i);
            if (!ATTRIBUTES.contains(name)) {
                throw Refusal.malformed("There is an unknown attribute.");
            }
            fields.put(name, reader.getAttributeValue(i));
        }
    }

    private static String needed(String what, String text) {
        if (text == null) {
            throw Refusal.malformed(what + " is missing.");
        }
        return text;
    }

    private static String name(String what, String text) {
        if (!NAME.matcher(needed(what, text)).matches()) {
            throw Refusal.malformed(
                    what + " must be 1 to 200 letters, digits, '.', '_', ':', '-'.");
        }
        return text;
    }

    private static BigDecimal number(String text) {
        if (!NUMBER.matcher(text).matches()) {
            throw Refusal.malformed("value must be a decimal number.");
        }
        return new BigDecimal(text);
    }

    /** Years of four digits: what the database can store as well. */
    private static OffsetDateTime time(String text) {
        try {
            OffsetDateTime time = OffsetDateTime.parse(text);
            if (time.getYear() >= 1 && time.getYear() <= 9999) {
                return time;
            }
        } catch (DateTimeException e) {
            // falls through to the same message
        }
        throw Refusal.malformed("time must look like 2026-01-01T00:00:00Z.");
    }
}
