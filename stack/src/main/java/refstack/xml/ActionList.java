package refstack.xml;

import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reads a list of actions out of JSON: {@code repeat} with {@code over}, perhaps {@code if}, and
 * {@code actions}; {@code append} with {@code element} and {@code actions}; {@code assign} with
 * {@code target} ({@code name}, {@code @attribute} or {@code name/@attribute}) and {@code link}.
 */
final class ActionList {

    private ActionList() {
    }

    /**
     * The actions.
     *
     * @throws IllegalArgumentException for an unknown action, or one that lacks something
     */
    static List<Action> parse(String json) {
        return actions(JsonMapper.shared().readTree(json));
    }

    private static List<Action> actions(JsonNode list) {
        List<Action> actions = new ArrayList<>();
        list.forEach(one -> actions.add(action(one)));
        return List.copyOf(actions);
    }

    private static Action action(JsonNode node) {
        String kind = text(node, "action");
        return switch (kind) {
            case "repeat" -> new Action.Repeat(Path.parse(text(node, "over")),
                    node.has("if") ? Link.parse(text(node, "if")) : null,
                    actions(node.path("actions")));
            case "append" -> new Action.Append(text(node, "element"),
                    actions(node.path("actions")));
            case "assign" -> assign(text(node, "target"), Link.parse(text(node, "link")));
            default -> throw new IllegalArgumentException("there is no action '" + kind + "'");
        };
    }

    private static Action assign(String target, Link link) {
        int at = target.indexOf('@');
        if (at < 0) {
            return new Action.Assign(target, "", link);
        }
        String child = at == 0 ? "" : target.substring(0, at - 1);
        return new Action.Assign(child, target.substring(at + 1), link);
    }

    private static String text(JsonNode node, String name) {
        JsonNode found = node.get(name);
        if (found == null || !found.isString()) {
            throw new IllegalArgumentException("an action lacks '" + name + "': " + node);
        }
        return found.stringValue();
    }
}
