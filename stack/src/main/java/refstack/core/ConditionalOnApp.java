package refstack.core;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.core.annotation.AliasFor;

/** Loads the annotated configuration only in an app node that has the given part. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ConditionalOnRole(Role.APP)
@ConditionalOnPart(Part.REST) // stands for the value below
public @interface ConditionalOnApp {

    @AliasFor(annotation = ConditionalOnPart.class, attribute = "value")
    Part value();
}
