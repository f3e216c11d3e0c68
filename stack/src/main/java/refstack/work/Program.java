package refstack.work;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A program drawn from a seed, as source text and as something that can be computed here, so that
 * what was generated from the source can be held against it. It adds up the values of some rows of
 * a document and leads the sum through a chain of steps; each step is a template with a choice.
 * All numbers are whole and far below 2^53, where a processor that computes in doubles is exact.
 */
final class Program {

    static final int ROWS = 40;
    static final int STEPS = 24;

    private static final int MODULUS = 1_000_003;

    private final int every;
    private final int rest;
    private final List<Step> steps;

    private Program(int every, int rest, List<Step> steps) {
        this.every = every;
        this.rest = rest;
        this.steps = steps;
    }

    /** {@code x} becomes {@code (x * factor + summand) mod MODULUS}, one of two of them. */
    private record Step(int divisor, int border, int[] factors, int[] summands) {

        long apply(long x) {
            int branch = x % divisor < border ? 0 : 1;
            return (x * factors[branch] + summands[branch]) % MODULUS;
        }
    }

    static Program of(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        List<Step> steps = new ArrayList<>();
        for (int i = 0; i < STEPS; i++) {
            int divisor = random.nextInt(2, 50);
            steps.add(new Step(divisor, random.nextInt(1, divisor),
                    new int[] {random.nextInt(1, 1000), random.nextInt(1, 1000)},
                    new int[] {random.nextInt(1000), random.nextInt(1000)}));
        }
        int every = random.nextInt(2, 6);
        return new Program(every, random.nextInt(every), steps);
    }

    /** The document that every program works on. */
    static String document() {
        StringBuilder text = new StringBuilder("<rows>");
        for (int row = 1; row <= ROWS; row++) {
            text.append("<row n=\"").append(row).append("\" v=\"").append(value(row))
                    .append("\"/>");
        }
        return text.append("</rows>").toString();
    }

    private static long value(int row) {
        return row * 7919L % 1000;
    }

    /** What the program makes of that document. */
    long expected() {
        long x = 0;
        for (int row = 1; row <= ROWS; row++) {
            x += row % every == rest ? value(row) : 0;
        }
        for (Step step : steps) {
            x = step.apply(x);
        }
        return x;
    }

    /** The program as a stylesheet. */
    String source() {
        StringBuilder text = new StringBuilder(STEPS * 600);
        text.append("<xsl:stylesheet version=\"1.0\" ")
                .append("xmlns:xsl=\"http://www.w3.org/1999/XSL/Transform\">")
                .append("<xsl:output method=\"text\"/><xsl:template match=\"/\">")
                .append("<xsl:call-template name=\"s0\"><xsl:with-param name=\"x\" ")
                .append("select=\"sum(rows/row[@n mod ").append(every).append(" = ").append(rest)
                .append("]/@v)\"/></xsl:call-template></xsl:template>");
        for (int i = 0; i < steps.size(); i++) {
            Step step = steps.get(i);
            text.append("<xsl:template name=\"s").append(i).append("\"><xsl:param name=\"x\"/>")
                    .append("<xsl:variable name=\"y\"><xsl:choose><xsl:when test=\"$x mod ")
                    .append(step.divisor()).append(" &lt; ").append(step.border()).append("\">");
            branch(text, step, 0);
            text.append("</xsl:when><xsl:otherwise>");
            branch(text, step, 1);
            text.append("</xsl:otherwise></xsl:choose></xsl:variable>");
            if (i + 1 < steps.size()) {
                text.append("<xsl:call-template name=\"s").append(i + 1)
                        .append("\"><xsl:with-param name=\"x\" select=\"number($y)\"/>")
                        .append("</xsl:call-template>");
            } else {
                text.append("<xsl:value-of select=\"$y\"/>");
            }
            text.append("</xsl:template>");
        }
        return text.append("</xsl:stylesheet>").toString();
    }

    private static void branch(StringBuilder text, Step step, int branch) {
        text.append("<xsl:value-of select=\"($x * ").append(step.factors()[branch]).append(" + ")
                .append(step.summands()[branch]).append(") mod ").append(MODULUS).append("\"/>");
    }
}
