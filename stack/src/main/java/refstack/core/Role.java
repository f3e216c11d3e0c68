package refstack.core;

import java.util.Arrays;
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
        return Arrays.stream(values())
                .filter(role -> role.name().equalsIgnoreCase(name.trim())).findFirst()
                .orElseThrow(() -> WrongSettingException.of(PROPERTY, name, "must be one of "
                        + Arrays.toString(values()).toLowerCase(Locale.ROOT)));
    }
}
