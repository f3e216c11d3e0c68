package refstack.xml;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;

/** Production orders made from a seed, and what their transformation has to add up to. */
public final class SampleOrders {

    private final StringBuilder xml = new StringBuilder();
    private int rows;
    private BigDecimal total = BigDecimal.ZERO.setScale(2);

    private SampleOrders(int orders, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        xml.append("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                + "<productionOrders plant=\"1000\" day=\"20110601\">\n");
        for (int order = 0; order < orders; order++) {
            boolean isReleased = order % 3 != 2;
            xml.append("<order number=\"").append(1000000 + order).append("\" status=\"")
                    .append(isReleased ? "released" : "created").append("\">\n")
                    .append("  <material>P-").append(order % 17).append("</material>\n")
                    .append("  <description>Pump &amp; valve Größe ").append(order)
                    .append("</description>\n  <components>\n");
            for (int position = 1; position <= 1 + order % 4; position++) {
                int quantity = random.nextInt(1, 500);
                BigDecimal price = BigDecimal.valueOf(random.nextInt(1, 100_000), 2);
                xml.append("    <component position=\"").append(position * 10).append("\">")
                        .append("<material>M-").append(random.nextInt(1000))
                        .append("</material><description>Part &lt;").append(position)
                        .append("&gt; &quot;A&quot;</description><storage>0001</storage>")
                        .append("<quantity unit=\"PC\">").append(quantity).append("</quantity>")
                        .append("<price currency=\"EUR\">").append(price).append("</price>")
                        .append("</component>\n");
                if (isReleased) {
                    rows++;
                    total = total.add(price.multiply(BigDecimal.valueOf(quantity)));
                }
            }
            xml.append("  </components>\n</order>\n");
        }
        xml.append("</productionOrders>\n");
    }

    /** So many orders. */
    public static SampleOrders of(int orders, long seed) {
        return new SampleOrders(orders, seed);
    }

    public byte[] bytes() {
        return xml.toString().getBytes(StandardCharsets.UTF_8);
    }

    public int rows() {
        return rows;
    }

    public BigDecimal total() {
        return total;
    }
}
