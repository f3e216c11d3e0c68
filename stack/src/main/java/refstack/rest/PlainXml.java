package refstack.rest;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;
import refstack.core.FlightSummary;
import refstack.core.RecordFields;

/** Records as XML: an element for the record, in it one for each field, in UTF-8. */
final class PlainXml {

    private static final XMLOutputFactory FACTORY = XMLOutputFactory.newFactory();
    private static final Map<Class<?>, RecordFields> FIELDS = new ConcurrentHashMap<>();

    private PlainXml() {
    }

    /** One record as a document whose root is {@code name}, the filler at its end. */
    static byte[] element(String name, Record value, Filler filler) {
        return document(name, writer -> {
            fields(writer, value);
            filler.write(writer);
        });
    }

    /** A list as {@code <flights><flight>...}, the filler behind the last flight. */
    static byte[] list(List<FlightSummary> flights, Filler filler) {
        return document("flights", writer -> {
            for (FlightSummary flight : flights) {
                writer.writeStartElement("flight");
                fields(writer, flight);
                writer.writeEndElement();
            }
            filler.write(writer);
        });
    }

    @FunctionalInterface
    private interface Content {
        void write(XMLStreamWriter writer) throws XMLStreamException;
    }

    private static byte[] document(String root, Content content) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(4096);
        try {
            String encoding = StandardCharsets.UTF_8.name();
            XMLStreamWriter writer = FACTORY.createXMLStreamWriter(out, encoding);
            writer.writeStartDocument(encoding, "1.0");
            writer.writeStartElement(root);
            content.write(writer);
            writer.writeEndElement();
            writer.writeEndDocument();
            writer.close();
        } catch (XMLStreamException e) {
            throw new IllegalStateException("cannot write XML to memory", e);
        }
        return out.toByteArray();
    }

    private static void fields(XMLStreamWriter writer, Record value) throws XMLStreamException {
        for (RecordFields.Field field : fieldsOf(value).all()) {
            writer.writeStartElement(field.name());
            writer.writeCharacters(text(field.read(value)));
            writer.writeEndElement();
        }
    }

    /** Times with their seconds, as the JSON has them. */
    private static String text(Object value) {
        return value instanceof LocalTime time ? DateTimeFormatter.ISO_LOCAL_TIME.format(time)
                : String.valueOf(value);
    }

    private static RecordFields fieldsOf(Record value) {
        return FIELDS.computeIfAbsent(value.getClass(),
                type -> RecordFields.of(type.asSubclass(Record.class)));
    }
}
