package refstack.node;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.core.env.Environment;
import refstack.core.ConditionalOnBackend.Place;
import refstack.core.Part;
import refstack.core.Role;
import refstack.core.VirtualThreads;
import refstack.core.WrongSettingException;

/**
 * Refuses settings of which each is right and that do not fit together, before anything is loaded:
 * what parts, role, back end and Java release need of each other. What a setting may be by itself
 * says the record that has it.
 */
public class PartRules implements ApplicationListener<ApplicationEnvironmentPreparedEvent> {

    private static final String URL = "refstack.backend.url";
    private static final String RPC = "refstack.backend.rpc";
    private static final int MAX_NODE_NAME = 28;

    @Override
    public void onApplicationEvent(ApplicationEnvironmentPreparedEvent event) {
        Environment environment = event.getEnvironment();
        Set<Part> parts = Part.of(environment);
        Role role = Role.of(environment);
        Place place = Place.of(environment);
        virtualThreads(environment);
        if (parts.contains(Part.CONNECTORS) && role == Role.APP) {
            needed(environment, URL, "connectors needs a node of role backend with that part");
            needed(environment, RPC, "connectors needs a node of role backend with that part");
            String name = environment.getProperty("refstack.node.name", "");
            int bytes = name.getBytes(StandardCharsets.UTF_8).length;
            if (bytes < 1 || bytes > MAX_NODE_NAME) {
                throw WrongSettingException.of("refstack.node.name", name,
                        "must have 1 to " + MAX_NODE_NAME + " bytes");
            }
        }
        if (parts.containsAll(Set.of(Part.CONNECTORS, Part.BINDINGS)) && role == Role.BACKEND) {
            throw wrong(environment, Part.PROPERTY,
                    "must not list connectors and bindings: both use refstack.rpc.port");
        }
        if (place == Place.REMOTE) {
            remote(environment, parts);
        } else if (place == Place.LOCAL) {
            database(environment);
        }
    }

    private static void virtualThreads(Environment environment) {
        for (String name : List.of("spring.threads.virtual.enabled", "refstack.bindings.virtual")) {
            if (Boolean.parseBoolean(environment.getProperty(name, "false").trim())
                    && !VirtualThreads.isSupported()) {
                throw wrong(environment, name, "needs Java " + VirtualThreads.FIRST_RELEASE
                        + " or later, and this is Java " + Runtime.version().feature());
            }
        }
    }

    private static void remote(Environment environment, Set<Part> parts) {
        alone(environment, parts, "parts events and messaging store rows themselves",
                Part.EVENTS, Part.MESSAGING);
        alone(environment, parts, "parts xml, pages, work and business use the database themselves",
                Part.XML, Part.PAGES, Part.WORK, Part.BUSINESS);
        if (parts.contains(Part.BINDINGS)) {
            needed(environment, RPC, "bindings and a back end needs it");
        }
        String fault = "refstack.fault.flights";
        if (!environment.getProperty(fault, "0").trim().equals("0")) {
            throw wrong(environment, fault, "belongs to the node with the database, and the back "
                    + "end of this one is remote");
        }
    }

    private static void alone(Environment environment, Set<Part> parts, String why, Part... own) {
        if (Arrays.stream(own).anyMatch(parts::contains)) {
            throw wrong(environment, URL, "must be empty: " + why);
        }
    }

    private static void needed(Environment environment, String name, String why) {
        if (environment.getProperty(name, "").isBlank()) {
            throw new WrongSettingException(
                    name + " is not set: an app node with part " + why);
        }
    }

    /** Does not print the URL: it may carry a password. */
    private static void database(Environment environment) {
        String url = environment.getProperty("spring.datasource.url", "");
        if (url.isBlank()) {
            throw new WrongSettingException("spring.datasource.url is not set: a node with a "
                    + "local back end needs a database (environment SPRING_DATASOURCE_URL)");
        }
        if (org.postgresql.Driver.parseURL(url, null) == null) {
            throw new WrongSettingException("spring.datasource.url must look like "
                    + "jdbc:postgresql://127.0.0.1:5432/postgres");
        }
    }

    private static WrongSettingException wrong(Environment environment, String name,
            String expected) {
        return WrongSettingException.of(name, environment.getProperty(name), expected);
    }
}
