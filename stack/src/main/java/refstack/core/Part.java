package refstack.core;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import org.springframework.core.env.Environment;

/** What a node can do; it loads only the parts that it is told to. */
public enum Part {

    /** Flights as plain JSON and XML. */
    REST,

    /** Flights as OData. */
    ODATA,

    /** Synchronous calls from an app node to a back end: SOAP, pooled RPC, logged transactions. */
    CONNECTORS,

    /** Transformation of large XML documents. */
    XML,

    /** Events that are accepted, queued and stored. */
    EVENTS,

    /** Durable queues that are drained into the database. */
    MESSAGING,

    /** Pages of interactive users, with sessions. */
    PAGES,

    /** A sender and a receiver joined in several ways. */
    BINDINGS,

    /** Disk jobs in the node's own data folder; needs no database. */
    DISK,

    /** Work over a ledger: queries, a report, jobs, and pairs of naive and better code. */
    WORK,

    /** Business transactions of users with sessions: orders, stock, a general ledger. */
    BUSINESS;

    /** Name of the property that lists the parts. */
    public static final String PROPERTY = "refstack.parts";

    /**
     * The configured parts.
     *
     * @throws WrongSettingException for a name that is no part
     */
    public static Set<Part> of(Environment environment) {
        String listed = environment.getProperty(PROPERTY, "");
        Set<Part> parts = EnumSet.noneOf(Part.class);
        for (String name : listed.split(",")) {
            if (!name.isBlank()) {
                parts.add(Arrays.stream(values())
                        .filter(part -> part.name().equalsIgnoreCase(name.trim())).findFirst()
                        .orElseThrow(() -> WrongSettingException.of(PROPERTY, listed,
                                "must list some of "
                                + Arrays.toString(values()).toLowerCase(Locale.ROOT))));
            }
        }
        return parts;
    }
}
