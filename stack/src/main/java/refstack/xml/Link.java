package refstack.xml;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import org.w3c.dom.Node;
import refstack.core.RefusedDocumentException;
import refstack.core.RefusedDocumentException.Reason;

/**
 * An expression over the current node of the source, as action lists use it to link a target to
 * what it gets: paths, literals in single quotes, numbers, {@code *}, {@code =}, {@code !=},
 * {@code concat(...)}, {@code substring(text, from 1, length)} and {@code format(number, places)}.
 */
interface Link {

    /** The value at a node, as text. */
    String text(Node current);

    /** Reads an expression. Raises IllegalArgumentException for anything else. */
    static Link parse(String text) {
        return new LinkParser(text).parse();
    }

    /** The value as a number. Refuses the document if it is none. */
    default BigDecimal number(Node current) {
        return toNumber(text(current));
    }

    /** Whether a comparison holds. */
    default boolean isTrue(Node current) {
        return Boolean.parseBoolean(text(current));
    }

    private static BigDecimal toNumber(String text) {
        try {
            return new BigDecimal(text.strip());
        } catch (NumberFormatException e) {
            throw new RefusedDocumentException(Reason.CONTENT,
                    "A quantity or a price is not a number.");
        }
    }

    /** Always the same text. */
    record Literal(String value) implements Link {

        @Override
        public String text(Node current) {
            return value;
        }
    }

    /** What stands in the source. */
    record Reference(Path path) implements Link {

        @Override
        public String text(Node current) {
            return path.text(current);
        }
    }

    /** A product of numbers. */
    record Product(Link left, Link right) implements Link {

        @Override
        public String text(Node current) {
            return number(current).toPlainString();
        }

        @Override
        public BigDecimal number(Node current) {
            return left.number(current).multiply(right.number(current));
        }
    }

    /** Whether two texts are equal, or are not. */
    record Comparison(Link left, Link right, boolean isEqual) implements Link {

        @Override
        public String text(Node current) {
            return Boolean.toString(
                    left.text(current).equals(right.text(current)) == isEqual);
        }
    }

    /** Texts one after the other. */
    record Concat(List<Link> parts) implements Link {

        @Override
        public String text(Node current) {
            StringBuilder text = new StringBuilder();
            parts.forEach(part -> text.append(part.text(current)));
            return text.toString();
        }
    }

    /** A part of a text, counted from 1; as much of it as there is. */
    record Substring(Link of, Link from, Link length) implements Link {

        @Override
        public String text(Node current) {
            String text = of.text(current);
            int begin = Math.max(0, from.number(current).intValue() - 1);
            int end = Math.min(text.length(), begin + length.number(current).intValue());
            return begin >= end ? "" : text.substring(begin, end);
        }
    }

    /** A number with so many decimal places, half to even. */
    record Format(Link of, Link places) implements Link {

        @Override
        public String text(Node current) {
            return of.number(current).setScale(places.number(current).intValue(),
                    RoundingMode.HALF_EVEN).toPlainString();
        }
    }
}
