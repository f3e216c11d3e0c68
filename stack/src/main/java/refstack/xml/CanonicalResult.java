package refstack.xml;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import org.xml.sax.Attributes;
import org.xml.sax.SAXException;
import org.xml.sax.helpers.DefaultHandler;
import refstack.core.RefusedDocumentException;
import refstack.core.RefusedDocumentException.Reason;

/**
 * Writes what it is told as canonical XML (W3C Canonical XML 1.0, for documents without namespaces,
 * comments and processing instructions, which results are), and adds up what the row in the
 * database says of it. White space between elements is left out: only elements without children
 * have text.
 */
class CanonicalResult extends DefaultHandler {

    private static final String ROW = "posting";
    private static final String VALUE = "value";

    private final StringBuilder xml = new StringBuilder(1 << 16);
    private final StringBuilder text = new StringBuilder();
    private boolean isLeaf;
    private int rows;
    private BigDecimal total = BigDecimal.ZERO.setScale(2);

    @Override
    public void startElement(String uri, String localName, String name, Attributes attributes) {
        text.setLength(0);
        isLeaf = true;
        xml.append('<').append(name);
        Map<String, String> sorted = new TreeMap<>();
        for (int i = 0; i < attributes.getLength(); i++) {
            sorted.put(attributes.getQName(i), attributes.getValue(i));
        }
        sorted.forEach((key, value) -> {
            xml.append(' ').append(key).append("=\"");
            appendAttribute(value);
            xml.append('"');
        });
        xml.append('>');
        if (name.equals(ROW)) {
            rows++;
        }
    }

    @Override
    public void characters(char[] characters, int start, int length) {
        text.append(characters, start, length);
    }

    @Override
    public void endElement(String uri, String localName, String name) throws SAXException {
        if (isLeaf) {
            appendText();
            if (name.equals(VALUE)) {
                add(text.toString());
            }
        }
        isLeaf = false;
        text.setLength(0);
        xml.append("</").append(name).append('>');
    }

    /** The canonical result. Refuses one without a root: the document was none of orders. */
    byte[] bytes() {
        if (xml.isEmpty()) {
            throw new RefusedDocumentException(Reason.CONTENT,
                    "The document's root element must be productionOrders.");
        }
        return xml.toString().getBytes(StandardCharsets.UTF_8);
    }

    int rows() {
        return rows;
    }

    BigDecimal total() {
        return total;
    }

    /** SHA-256 of the canonical result in hexadecimal. */
    static String sha256(byte[] canonical) {
        try {
            return HexFormat.of().formatHex(
                    MessageDigest.getInstance("SHA-256").digest(canonical));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    private void add(String value) throws SAXException {
        try {
            total = total.add(new BigDecimal(value));
        } catch (NumberFormatException e) {
            throw new SAXException(new RefusedDocumentException(Reason.CONTENT,
                    "A quantity or a price is not a number."));
        }
    }

    private void appendText() {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '&' -> xml.append("&amp;");
                case '<' -> xml.append("&lt;");
                case '>' -> xml.append("&gt;");
                case '\r' -> xml.append("&#xD;");
                default -> xml.append(c);
            }
        }
    }

    private void appendAttribute(String value) {
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            switch (c) {
                case '&' -> xml.append("&amp;");
                case '<' -> xml.append("&lt;");
                case '"' -> xml.append("&quot;");
                case '\t' -> xml.append("&#x9;");
                case '\n' -> xml.append("&#xA;");
                case '\r' -> xml.append("&#xD;");
                default -> xml.append(c);
            }
        }
    }
}
