package refstack.odata;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import javax.xml.XMLConstants;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;
import org.apache.olingo.odata2.api.edm.EdmEntityType;
import org.apache.olingo.odata2.api.edm.EdmException;
import org.apache.olingo.odata2.api.edm.EdmLiteralKind;
import org.apache.olingo.odata2.api.edm.EdmProperty;
import org.apache.olingo.odata2.api.edm.EdmSimpleType;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;
import refstack.core.RecordFields;

/**
 * The intermediate form of {@link CompatibilityMode}: an entity as rows of text.
 *
 * <pre>{@code
 * <entity type="Flight">
 *   <row><name>carrid</name><type>Edm.String</type><value>AA</value></row>
 *   ...
 * </entity>
 * }</pre>
 */
final class GenericDocument {

    private static final XMLOutputFactory WRITERS = XMLOutputFactory.newFactory();
    private static final DocumentBuilderFactory READERS = secureReaders();

    private GenericDocument() {
    }

    /** One property as text. */
    record Row(String name, String type, String value) {
    }

    /** The document for one entity, in UTF-8. */
    static byte[] write(Record value, EdmEntityType type) throws EdmException {
        ByteArrayOutputStream out = new ByteArrayOutputStream(4096);
        try {
            String encoding = StandardCharsets.UTF_8.name();
            XMLStreamWriter writer = WRITERS.createXMLStreamWriter(out, encoding);
            writer.writeStartDocument(encoding, "1.0");
            writer.writeStartElement("entity");
            writer.writeAttribute("type", type.getName());
            for (RecordFields.Field field : EdmValues.fieldsOf(value).all()) {
                EdmProperty property = (EdmProperty) type.getProperty(field.name());
                EdmSimpleType simple = (EdmSimpleType) property.getType();
                writer.writeStartElement("row");
                text(writer, "name", field.name());
                text(writer, "type", simple.toString());
                text(writer, "value", simple.valueToString(EdmValues.of(field.read(value)),
                        EdmLiteralKind.DEFAULT, property.getFacets()));
                writer.writeEndElement();
            }
            writer.writeEndElement();
            writer.writeEndDocument();
            writer.close();
        } catch (XMLStreamException e) {
            throw new IllegalStateException("cannot write XML to memory", e);
        }
        return out.toByteArray();
    }

    /** The rows of a document. */
    static List<Row> read(byte[] document) {
        List<Row> rows = new ArrayList<>();
        try {
            NodeList elements = READERS.newDocumentBuilder()
                    .parse(new ByteArrayInputStream(document)).getElementsByTagName("row");
            for (int i = 0; i < elements.getLength(); i++) {
                Element row = (Element) elements.item(i);
                rows.add(new Row(text(row, "name"), text(row, "type"), text(row, "value")));
            }
        } catch (ParserConfigurationException | SAXException | IOException e) {
            throw new IllegalStateException("cannot read what was just written", e);
        }
        return rows;
    }

    private static void text(XMLStreamWriter writer, String name, String text)
            throws XMLStreamException {
        writer.writeStartElement(name);
        writer.writeCharacters(text);
        writer.writeEndElement();
    }

    private static String text(Element row, String name) {
        return row.getElementsByTagName(name).item(0).getTextContent();
    }

    /** Readers that refuse document types, and with them entities from elsewhere. */
    private static DocumentBuilderFactory secureReaders() {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        try {
            factory.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);
            factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
        } catch (ParserConfigurationException e) {
            throw new IllegalStateException("this XML parser cannot be made secure", e);
        }
        factory.setExpandEntityReferences(false);
        factory.setXIncludeAware(false);
        return factory;
    }
}
