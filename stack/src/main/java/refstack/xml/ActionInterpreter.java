package refstack.xml;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NamedNodeMap;
import org.w3c.dom.Node;
import org.xml.sax.ContentHandler;
import org.xml.sax.SAXException;
import org.xml.sax.helpers.AttributesImpl;

/**
 * Builds the result element by element, by the list of actions in {@code actions.json}, as
 * integration products do it: source and result are trees, every assignment follows its links anew.
 */
class ActionInterpreter implements Transformation {

    private final SecureParsers parsers;
    private final List<Action> actions;

    ActionInterpreter(SecureParsers parsers) {
        this.parsers = parsers;
        try (InputStream in = ActionInterpreter.class.getResourceAsStream("actions.json")) {
            this.actions = ActionList.parse(
                    new String(in.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public String way() {
        return "actions";
    }

    @Override
    public void transform(byte[] document, ContentHandler result) {
        Document source = parsers.tree(document);
        Document target = parsers.emptyTree();
        actions.forEach(action -> action.run(source, target));
        try {
            result.startDocument();
            if (target.getDocumentElement() != null) {
                tell(target.getDocumentElement(), result);
            }
            result.endDocument();
        } catch (SAXException e) {
            throw SecureParsers.refusal(e);
        }
    }

    private static void tell(Element element, ContentHandler result) throws SAXException {
        String name = element.getNodeName();
        AttributesImpl attributes = new AttributesImpl();
        NamedNodeMap present = element.getAttributes();
        for (int i = 0; i < present.getLength(); i++) {
            Node attribute = present.item(i);
            attributes.addAttribute("", attribute.getNodeName(), attribute.getNodeName(), "CDATA",
                    attribute.getNodeValue());
        }
        result.startElement("", name, name, attributes);
        for (Node child = element.getFirstChild(); child != null; child = child.getNextSibling()) {
            if (child instanceof Element inner) {
                tell(inner, result);
            } else {
                char[] text = child.getNodeValue().toCharArray();
                result.characters(text, 0, text.length);
            }
        }
        result.endElement("", name, name);
    }
}
