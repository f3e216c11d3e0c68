package refstack.core;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
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
     * @throws IllegalArgumentException for a name that is no part
     */
    public static Set<Part> of(Environment environment) {
        Set<Part> parts = EnumSet.noneOf(Part.class);
        for (String name : environment.getProperty(PROPERTY, "").split(",")) {
            if (!name.isBlank()) {
                parts.add(valueOf(name.trim().toUpperCase(Locale.ROOT)));
            }
        }
        return parts;
    }

    /** The names as they are written in settings. */
    public static List<String> names() {
        return Arrays.stream(values()).map(part -> part.name().toLowerCase(Locale.ROOT)).toList();
    }
}
