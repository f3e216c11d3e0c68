package refstack.bindings;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Which messages were done after a later one of the same sender. An id that ends in a hyphen and a
 * number tells both: {@code a7-12} is the twelfth of {@code a7}. Other ids have no order.
 */
class Order {

    private static final Pattern NUMBERED = Pattern.compile("(.+)-([0-9]{1,18})");

    private final Map<String, Long> last;

    /** Remembers so many senders; who sent nothing for longest is forgotten first. */
    Order(int senders) {
        this.last = new LinkedHashMap<>(16, 0.75F, true) {

            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
                return size() > senders;
            }
        };
    }

    /** Notes that a message is done; true if one with a higher number was done before. */
    boolean isLate(String id) {
        Matcher numbered = NUMBERED.matcher(id);
        if (!numbered.matches()) {
            return false;
        }
        long number = Long.parseLong(numbered.group(2));
        synchronized (last) {
            Long before = last.get(numbered.group(1));
            if (before != null && before > number) {
                return true;
            }
            last.put(numbered.group(1), number);
            return false;
        }
    }
}
