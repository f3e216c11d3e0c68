package refstack.rest;

import java.util.Arrays;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;

/**
 * Dummy elements of an exact total size: {@code <filler>xxx...</filler>}, as many of
 * {@link #USUAL} bytes as fit, the last of them longer by what is left. Small elements rather
 * than one large text, because a reader of the report asked for something "as chatty" as OData.
 *
 * @param bytes bytes of all dummy elements together
 */
record Filler(int bytes) {

    static final Filler NONE = new Filler(0);

    private static final String NAME = "filler";
    private static final int TAGS = "<filler></filler>".length();
    private static final int USUAL = 40;

    Filler {
        if (bytes != 0 && bytes < TAGS) {
            throw new IllegalArgumentException("cannot fill " + bytes + " bytes with elements: "
                    + "the padded document would be larger than the reference");
        }
    }

    void write(XMLStreamWriter writer) throws XMLStreamException {
        int left = bytes;
        while (left > 0) {
            int size = left >= 2 * USUAL ? USUAL : left;
            writer.writeStartElement(NAME);
            writer.writeCharacters(text(size - TAGS));
            writer.writeEndElement();
            left -= size;
        }
    }

    private static String text(int length) {
        char[] text = new char[length];
        Arrays.fill(text, 'x');
        return new String(text);
    }
}
