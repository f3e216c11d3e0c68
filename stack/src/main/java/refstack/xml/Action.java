package refstack.xml;

import java.util.List;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.Node;

/** One step of a list of actions: reads at a node of the source, writes at a node of the result. */
interface Action {

    /**
     * Does the step.
     *
     * @param source current node of the source
     * @param target current node of the result: an element, or the document that is still empty
     */
    void run(Node source, Node target);

    /** Does its actions for each node that a path leads to, which becomes the current one. */
    record Repeat(Path over, Link condition, List<Action> actions) implements Action {

        @Override
        public void run(Node source, Node target) {
            for (Node each : over.select(source)) {
                if (condition == null || condition.isTrue(each)) {
                    actions.forEach(action -> action.run(each, target));
                }
            }
        }
    }

    /** Adds an element to the result, which becomes the current one for its actions. */
    record Append(String element, List<Action> actions) implements Action {

        @Override
        public void run(Node source, Node target) {
            Element added = documentOf(target).createElement(element);
            target.appendChild(added);
            actions.forEach(action -> action.run(source, added));
        }
    }

    /**
     * Gives a child of the current element of the result, or an attribute, the value of a link.
     * A child that is not there is made.
     *
     * @param child     name of the child; empty: the current element
     * @param attribute name of the attribute; empty: the text
     */
    record Assign(String child, String attribute, Link link) implements Action {

        @Override
        public void run(Node source, Node target) {
            Element element = child.isEmpty() ? (Element) target : childOf((Element) target);
            if (attribute.isEmpty()) {
                element.setTextContent(link.text(source));
            } else {
                element.setAttribute(attribute, link.text(source));
            }
        }

        private Element childOf(Element target) {
            for (Node each = target.getFirstChild(); each != null; each = each.getNextSibling()) {
                if (each instanceof Element element && child.equals(each.getNodeName())) {
                    return element;
                }
            }
            Element added = target.getOwnerDocument().createElement(child);
            target.appendChild(added);
            return added;
        }
    }

    private static Document documentOf(Node node) {
        return node instanceof Document document ? document : node.getOwnerDocument();
    }
}
