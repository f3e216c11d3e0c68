package refstack.node;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.core.env.Environment;
import refstack.core.ConditionalOnBackend.Place;
import refstack.core.Part;
import refstack.core.Role;
import refstack.core.VirtualThreads;

/**
 * Refuses settings that cannot work, before anything is loaded. Without it some of them would
 * end in a stack trace (a JDBC URL of another kind) and others would start a node that hangs
 * (a pool without a thread).
 */
public class ConfigurationCheck
        implements ApplicationListener<ApplicationEnvironmentPreparedEvent> {

    private static final List<String> POOL_SIZES = List.of(
            "server.tomcat.threads.max",
            "server.tomcat.max-connections",
            "spring.datasource.hikari.maximum-pool-size",
            "refstack.remote.max-connections",
            "refstack.rpc.threads",
            "refstack.connector.pool",
            "refstack.connector.iterations",
            "refstack.xml.max-depth",
            "refstack.bindings.max-calls",
            "refstack.bindings.queue-capacity",
            "refstack.bindings.rpc-threads",
            "refstack.bindings.rpc-capacity",
            "refstack.bindings.shared-capacity",
            "refstack.bindings.connections",
            "refstack.bindings.jms-senders",
            "refstack.bindings.jms-consumers",
            "refstack.pages.count",
            "refstack.pages.rows",
            "refstack.pages.max-sessions",
            "refstack.work.fetch-rows",
            "refstack.work.chunk-accounts",
            "refstack.work.max-programs");
    private static final List<String> NONE_OR_SIZES = List.of(
            "refstack.bindings.shared-threads",
            "refstack.bindings.queue-threads",
            "refstack.bindings.jms-threads",
            "refstack.business.sessions-in-memory",
            "refstack.business.workers");
    private static final List<String> VIRTUAL = List.of(
            "spring.threads.virtual.enabled", "refstack.bindings.virtual");
    private static final int MAX_NODE_NAME = 28;

    @Override
    public void onApplicationEvent(ApplicationEnvironmentPreparedEvent event) {
        Environment environment = event.getEnvironment();
        checkRole(environment);
        checkParts(environment);
        POOL_SIZES.forEach(name -> checkNumber(environment, name, 1, "above 0"));
        NONE_OR_SIZES.forEach(name -> checkNumber(environment, name, 0, "from 0 on"));
        VIRTUAL.forEach(name -> checkVirtual(environment, name));
        if (Role.of(environment) == Role.APP && Part.of(environment).contains(Part.CONNECTORS)) {
            checkConnectors(environment);
        }
        checkBrokerUrl(environment);
        checkQueuesHaveDatabase(environment);
        checkPagesHaveDatabase(environment);
        checkBindings(environment);
        switch (Place.of(environment)) {
            case REMOTE -> {
                checkBackendUrl(environment);
                checkNoFault(environment);
            }
            case LOCAL -> checkDatabaseUrl(environment);
            case NONE -> {
                // Nothing to be reached.
            }
        }
    }

    private static void checkRole(Environment environment) {
        try {
            Role.of(environment);
        } catch (IllegalArgumentException e) {
            List<String> known = Arrays.stream(Role.values())
                    .map(role -> role.name().toLowerCase(Locale.ROOT)).toList();
            throw wrong(environment, Role.PROPERTY, "must be one of " + known);
        }
    }

    private static void checkParts(Environment environment) {
        try {
            Part.of(environment);
        } catch (IllegalArgumentException e) {
            throw wrong(environment, Part.PROPERTY, "must list some of " + Part.names());
        }
    }

    private static void checkNumber(Environment environment, String name, int least,
            String range) {
        String text = environment.getProperty(name);
        if (text == null) {
            return;
        }
        try {
            if (Integer.parseInt(text.trim()) >= least) {
                return;
            }
        } catch (NumberFormatException e) {
            // falls through to the same message
        }
        throw wrong(environment, name, "must be a whole number " + range);
    }

    private static void checkVirtual(Environment environment, String name) {
        if (Boolean.parseBoolean(environment.getProperty(name, "false").trim())
                && !VirtualThreads.isSupported()) {
            throw wrong(environment, name, "needs Java " + VirtualThreads.FIRST_RELEASE
                    + " or later, and this is Java " + Runtime.version().feature());
        }
    }

    private static void checkConnectors(Environment environment) {
        for (String name : List.of("refstack.backend.url", "refstack.backend.rpc")) {
            if (environment.getProperty(name, "").isBlank()) {
                throw new ConfigurationException(name + " is not set: an app node with part "
                        + "connectors needs a node of role backend with that part");
            }
        }
        if (!environment.getProperty("refstack.backend.rpc", "").matches("[^:/\\s]+:[0-9]{1,5}")) {
            throw wrong(environment, "refstack.backend.rpc", "must look like 127.0.0.1:8091");
        }
        String node = environment.getProperty("refstack.node.name", "");
        int bytes = node.getBytes(StandardCharsets.UTF_8).length;
        if (bytes < 1 || bytes > MAX_NODE_NAME) {
            throw wrong(environment, "refstack.node.name",
                    "must have 1 to " + MAX_NODE_NAME + " bytes");
        }
    }

    private static void checkBackendUrl(Environment environment) {
        String name = "refstack.backend.url";
        try {
            URI url = new URI(environment.getProperty(name, "").trim());
            if ("http".equals(url.getScheme()) && url.getHost() != null) {
                return;
            }
        } catch (URISyntaxException e) {
            // falls through to the same message
        }
        throw wrong(environment, name, "must look like http://127.0.0.1:8090, or be empty");
    }

    private static void checkBrokerUrl(Environment environment) {
        String name = "refstack.broker.url";
        String text = environment.getProperty(name, "").trim();
        if (text.isEmpty() || text.matches("tcp://[A-Za-z0-9.-]+:[0-9]{1,5}")) {
            return;
        }
        throw wrong(environment, name, "must look like tcp://127.0.0.1:61616, or be empty");
    }

    private static void checkQueuesHaveDatabase(Environment environment) {
        Set<Part> parts = Part.of(environment);
        boolean hasQueues = parts.contains(Part.EVENTS) || parts.contains(Part.MESSAGING);
        if (hasQueues && Place.of(environment) == Place.REMOTE) {
            throw wrong(environment, "refstack.backend.url",
                    "must be empty: parts events and messaging store rows themselves");
        }
    }

    private static void checkPagesHaveDatabase(Environment environment) {
        Set<Part> parts = Part.of(environment);
        boolean needsOne = parts.contains(Part.XML) || parts.contains(Part.PAGES)
                || parts.contains(Part.WORK) || parts.contains(Part.BUSINESS);
        if (needsOne && Place.of(environment) == Place.REMOTE) {
            throw wrong(environment, "refstack.backend.url",
                    "must be empty: parts xml, pages, work and business use the database "
                            + "themselves");
        }
    }

    private static void checkBindings(Environment environment) {
        Set<Part> parts = Part.of(environment);
        if (!parts.contains(Part.BINDINGS)) {
            return;
        }
        if (parts.contains(Part.CONNECTORS) && Role.of(environment) == Role.BACKEND) {
            throw wrong(environment, Part.PROPERTY,
                    "must not list connectors and bindings: both use refstack.rpc.port");
        }
        if (Place.of(environment) == Place.REMOTE
                && environment.getProperty("refstack.backend.rpc", "").isBlank()) {
            throw new ConfigurationException("refstack.backend.rpc is not set: an app node with "
                    + "part bindings and a back end needs it");
        }
    }

    private static void checkNoFault(Environment environment) {
        String name = "refstack.fault.flights";
        if (environment.getProperty(name, Integer.class, 0) > 0) {
            throw wrong(environment, name, "belongs to the node with the database, and the back "
                    + "end of this one is remote");
        }
    }

    /** Does not print the URL: it may carry a password. */
    private static void checkDatabaseUrl(Environment environment) {
        String url = environment.getProperty("spring.datasource.url", "");
        if (url.isBlank()) {
            throw new ConfigurationException("spring.datasource.url is not set: a node with a "
                    + "local back end needs a database (environment SPRING_DATASOURCE_URL)");
        }
        if (org.postgresql.Driver.parseURL(url, null) == null) {
            throw new ConfigurationException("spring.datasource.url must look like "
                    + "jdbc:postgresql://127.0.0.1:5432/postgres");
        }
    }

    private static ConfigurationException wrong(Environment environment, String name,
            String expected) {
        return new ConfigurationException(
                name + " is '" + environment.getProperty(name) + "': it " + expected);
    }
}
