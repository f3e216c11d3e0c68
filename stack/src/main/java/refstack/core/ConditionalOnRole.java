package refstack.core;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Loads the annotated configuration only in a node of the given role. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Conditional(ConditionalOnRole.OnRole.class)
public @interface ConditionalOnRole {

    Role value();

    /** The test behind the annotation. */
    final class OnRole implements Condition {

        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            Object wanted = metadata.getAnnotationAttributes(ConditionalOnRole.class.getName())
                    .get("value");
            return wanted == Role.of(context.getEnvironment());
        }
    }
}
