package refstack.node;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.core.env.Environment;
import refstack.core.ConditionalOnBackend.Place;
import refstack.core.Role;

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
            "refstack.remote.max-connections");

    @Override
    public void onApplicationEvent(ApplicationEnvironmentPreparedEvent event) {
        Environment environment = event.getEnvironment();
        checkRole(environment);
        POOL_SIZES.forEach(name -> checkPositive(environment, name));
        if (Place.of(environment) == Place.REMOTE) {
            checkBackendUrl(environment);
            checkNoFault(environment);
        } else {
            checkDatabaseUrl(environment);
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

    private static void checkPositive(Environment environment, String name) {
        String text = environment.getProperty(name);
        if (text == null) {
            return;
        }
        try {
            if (Integer.parseInt(text.trim()) > 0) {
                return;
            }
        } catch (NumberFormatException e) {
            // falls through to the same message
        }
        throw wrong(environment, name, "must be a whole number above 0");
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
