package refstack.xml;

import java.util.ArrayList;
import java.util.List;
import org.w3c.dom.Attr;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.Node;

/**
 * A path through a tree as XPath writes it, of the steps {@code name}, {@code @name}, {@code ..}
 * and {@code .}, from the current node or, after {@code /}, from the document.
 */
record Path(boolean isAbsolute, List<String> steps) {

    /** Reads a path; the caller has checked that it has no other characters. */
    static Path parse(String text) {
        boolean isAbsolute = text.startsWith("/");
        String relative = isAbsolute ? text.substring(1) : text;
        List<String> steps = relative.isEmpty() && isAbsolute ? List.of()
                : List.of(relative.split("/", -1));
        if (steps.contains("") || steps.contains("@")) {
            throw new IllegalArgumentException("path '" + text + "' has an empty step");
        }
        return new Path(isAbsolute, steps);
    }

    /** Every node that the path leads to, in the order of the document. */
    List<Node> select(Node current) {
        List<Node> found = List.of(isAbsolute ? documentOf(current) : current);
        for (String step : steps) {
            List<Node> next = new ArrayList<>();
            for (Node node : found) {
                take(step, node, next);
            }
            found = next;
        }
        return found;
    }

    /** Text of the first node that the path leads to; empty if there is none. */
    String text(Node current) {
        List<Node> found = select(current);
        return found.isEmpty() ? "" : found.get(0).getTextContent();
    }

    private static void take(String step, Node node, List<Node> into) {
        if (step.equals(".")) {
            into.add(node);
        } else if (step.equals("..")) {
            Node parent = node instanceof Attr attribute ? attribute.getOwnerElement()
                    : node.getParentNode();
            if (parent != null && !into.contains(parent)) {
                into.add(parent);
            }
        } else if (step.startsWith("@")) {
            if (node instanceof Element element) {
                Attr attribute = element.getAttributeNode(step.substring(1));
                if (attribute != null) {
                    into.add(attribute);
                }
            }
        } else {
            for (Node child = node.getFirstChild(); child != null;
                    child = child.getNextSibling()) {
                if (child instanceof Element && step.equals(child.getNodeName())) {
                    into.add(child);
                }
            }
        }
    }

    private static Document documentOf(Node node) {
        return node instanceof Document document ? document : node.getOwnerDocument();
    }
}
