package refstack.core;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Set;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Loads the annotated configuration only where flights come from the given place. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Conditional(ConditionalOnBackend.OnBackend.class)
public @interface ConditionalOnBackend {

    Place value();

    /** Where the back end of a node is. */
    enum Place {

        /** In this process, out of the database. */
        LOCAL,

        /** In another process, over HTTP. */
        REMOTE,

        /** There is none: no part of the node asks for flights, or for a database. */
        NONE;

        /**
         * A node is remote from its back end if it is an app node with a back end URL; it has none
         * if it is an app node that works on its disk alone.
         */
        public static Place of(Environment environment) {
            if (Role.of(environment) != Role.APP) {
                return LOCAL;
            }
            if (Part.of(environment).equals(Set.of(Part.DISK))) {
                return NONE;
            }
            return environment.getProperty("refstack.backend.url", "").isBlank() ? LOCAL : REMOTE;
        }
    }

    /** The test behind the annotation. */
    final class OnBackend implements Condition {

        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            Object wanted = metadata.getAnnotationAttributes(ConditionalOnBackend.class.getName())
                    .get("value");
            return wanted == Place.of(context.getEnvironment());
        }
    }
}
