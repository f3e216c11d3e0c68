package refstack.core;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Loads the annotated configuration only in a node that has the given part. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Conditional(ConditionalOnPart.OnPart.class)
public @interface ConditionalOnPart {

    Part value();

    /** The test behind the annotation. */
    final class OnPart implements Condition {

        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            Object wanted = metadata.getAnnotationAttributes(ConditionalOnPart.class.getName())
                    .get("value");
            return Part.of(context.getEnvironment()).contains((Part) wanted);
        }
    }
}
