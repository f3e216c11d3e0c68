package refstack.xml;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads one link: a comparison of products of terms. */
class LinkParser {

    private static final String STEP = "(?:@?[A-Za-z][\\w-]*|\\.\\.?)";
    private static final Pattern TOKEN = Pattern.compile("'[^']*'|[0-9]+|[a-z]+\\(|!=|[*=,)]|/?"
            + STEP + "(?:/" + STEP + ")*");

    private final String text;
    private final Deque<String> tokens = new ArrayDeque<>();

    LinkParser(String text) {
        this.text = text;
        Matcher matcher = TOKEN.matcher(text);
        int at = 0;
        while (matcher.find()) {
            if (!text.substring(at, matcher.start()).isBlank()) {
                throw wrong();
            }
            tokens.add(matcher.group());
            at = matcher.end();
        }
        if (!text.substring(at).isBlank()) {
            throw wrong();
        }
    }

    Link parse() {
        Link link = comparison();
        if (!tokens.isEmpty()) {
            throw wrong();
        }
        return link;
    }

    private Link comparison() {
        Link left = product();
        String sign = tokens.peek();
        if (!"=".equals(sign) && !"!=".equals(sign)) {
            return left;
        }
        tokens.remove();
        return new Link.Comparison(left, product(), sign.equals("="));
    }

    private Link product() {
        Link link = term();
        while ("*".equals(tokens.peek())) {
            tokens.remove();
            link = new Link.Product(link, term());
        }
        return link;
    }

    private Link term() {
        String token = tokens.isEmpty() ? "" : tokens.remove();
        if (token.startsWith("'")) {
            return new Link.Literal(token.substring(1, token.length() - 1));
        }
        if (token.endsWith("(")) {
            return function(token.substring(0, token.length() - 1), arguments());
        }
        if (token.isEmpty() || "*=!=,)".contains(token)) {
            throw wrong();
        }
        return Character.isDigit(token.charAt(0)) ? new Link.Literal(token)
                : new Link.Reference(Path.parse(token));
    }

    private List<Link> arguments() {
        List<Link> arguments = new ArrayList<>();
        String sign = ",";
        while (sign.equals(",")) {
            arguments.add(comparison());
            sign = tokens.isEmpty() ? "" : tokens.remove();
        }
        if (!sign.equals(")")) {
            throw wrong();
        }
        return arguments;
    }

    private Link function(String name, List<Link> arguments) {
        return switch (name + arguments.size()) {
            case "substring3" ->
                new Link.Substring(arguments.get(0), arguments.get(1), arguments.get(2));
            case "format2" -> new Link.Format(arguments.get(0), arguments.get(1));
            default -> {
                if (!name.equals("concat")) {
                    throw wrong();
                }
                yield new Link.Concat(arguments);
            }
        };
    }

    private IllegalArgumentException wrong() {
        return new IllegalArgumentException("link \"" + text + "\" cannot be read");
    }
}
