package refstack.broker;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.apache.activemq.artemis.core.server.JournalType;
import org.apache.activemq.artemis.core.settings.impl.AddressFullMessagePolicy;

/**
 * What can be set in a broker, in a process of its own as {@code --name value}, in a node as
 * {@code refstack.broker.embedded.name}.
 *
 * @param queues            names of the queues
 * @param journalType       {@code nio} or {@code asyncio} (needs libaio; syncs are not counted)
 * @param journalFileBytes  bytes of each file of the journal
 * @param globalMaxBytes    memory of all messages before {@code fullPolicy} acts; -1 = half the heap
 * @param queueMaxBytes     the same for each queue; -1 = no limit of its own
 * @param fullPolicy        a full queue refuses messages ({@code fail}), writes them to disk only
 *                          ({@code page}), or lets senders wait ({@code block})
 * @param largeBytes        messages from this size on are kept in a file of their own instead of
 *                          in memory and journal; senders are told by their own setting
 * @param redeliveryDelayMs how long a message rests after a failed delivery
 * @param maxDeliveries     deliveries after which a message is given up and moved to {@link #DEAD};
 *                          -1 = never
 */
public record BrokerSettings(List<String> queues, JournalType journalType, int journalFileBytes,
        long globalMaxBytes, long queueMaxBytes, AddressFullMessagePolicy fullPolicy,
        int largeBytes, long redeliveryDelayMs, int maxDeliveries) {

    /** Queue of the messages that were given up. */
    public static final String DEAD = "dead";

    private static final int KIB = 1024;
    private static final Map<String, String> DEFAULTS = Map.of(
            "queues", "work,events",
            "journal-type", "nio",
            "journal-file-bytes", Integer.toString(10 * KIB * KIB),
            "global-max-bytes", "-1",
            "queue-max-bytes", "-1",
            "full-policy", "fail",
            "large-bytes", Integer.toString(100 * KIB),
            "redelivery-delay-ms", "500",
            "max-deliveries", "100");

    /**
     * Settings by their names; what is not named has its default.
     *
     * @throws IllegalArgumentException for a name or a value that cannot be; the message says it
     */
    public static BrokerSettings of(Map<String, String> given) {
        Map<String, String> all = new TreeMap<>(DEFAULTS);
        given.forEach((name, value) -> {
            if (all.put(name, value) == null) {
                throw new IllegalArgumentException("unknown broker setting '" + name
                        + "': there are " + String.join(", ", new TreeMap<>(DEFAULTS).keySet()));
            }
        });
        return new BrokerSettings(queues(all.get("queues")),
                oneOf(all, "journal-type", JournalType.NIO, JournalType.ASYNCIO),
                (int) number(all, "journal-file-bytes", 64 * KIB, 1 << 30),
                number(all, "global-max-bytes", -1, Long.MAX_VALUE),
                number(all, "queue-max-bytes", -1, Long.MAX_VALUE),
                oneOf(all, "full-policy", AddressFullMessagePolicy.FAIL,
                        AddressFullMessagePolicy.PAGE, AddressFullMessagePolicy.BLOCK),
                (int) number(all, "large-bytes", KIB, 256 * KIB * KIB),
                number(all, "redelivery-delay-ms", 0, 3_600_000),
                (int) number(all, "max-deliveries", -1, 1_000_000));
    }

    /** Room that the journal must have to write the largest message that is not kept in a file. */
    int recordBytes() {
        return largeBytes + largeBytes / 8 + 16 * KIB;
    }

    private static List<String> queues(String text) {
        List<String> names = Arrays.stream(text.split(",")).map(String::trim).toList();
        for (String name : names) {
            if (!name.matches("[a-z][a-z0-9._-]{0,99}") || name.equals(DEAD)) {
                throw new IllegalArgumentException("queues is '" + text
                        + "': it must list names of lower-case letters, digits, '.', '_', '-'");
            }
        }
        return names;
    }

    @SafeVarargs
    private static <E extends Enum<E>> E oneOf(Map<String, String> all, String name, E... known) {
        String text = all.get(name).toUpperCase(Locale.ROOT);
        return Arrays.stream(known).filter(one -> one.name().equals(text)).findFirst()
                .orElseThrow(() -> new IllegalArgumentException(name + " is '" + all.get(name)
                        + "': it must be one of "
                        + Arrays.toString(known).toLowerCase(Locale.ROOT)));
    }

    private static long number(Map<String, String> all, String name, long least, long most) {
        try {
            long value = Long.parseLong(all.get(name).trim());
            if (value >= least && value <= most) {
                return value;
            }
        } catch (NumberFormatException e) {
            // falls through to the same message
        }
        throw new IllegalArgumentException(name + " is '" + all.get(name)
                + "': it must be a whole number from " + least + " to " + most);
    }
}
