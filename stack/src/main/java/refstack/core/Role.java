package refstack.core;

import java.util.Locale;
import org.springframework.core.env.Environment;

/** What a node is there for; it loads only what its role needs. */
public enum Role {

    /** Answers clients over REST and OData. */
    APP,

    /** Answers nodes of role {@link #APP} over the internal API, out of the database. */
    BACKEND;

    /** Name of the property that says the role. */
    public static final String PROPERTY = "refstack.role";

    /** The configured role, {@link #APP} by default. */
    public static Role of(Environment environment) {
        String name = environment.getProperty(PROPERTY, APP.name());
        return valueOf(name.trim().toUpperCase(Locale.ROOT));
    }
}
