package refstack.core;

import jakarta.validation.Constraint;
import jakarta.validation.ConstraintValidator;
import jakarta.validation.ConstraintValidatorContext;
import jakarta.validation.Payload;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.util.unit.DataSize;

/** A size in a range. */
@Target(ElementType.FIELD)
@Retention(RetentionPolicy.RUNTIME)
@Constraint(validatedBy = Bytes.InRange.class)
public @interface Bytes {

    /** The least. */
    long min() default 1;

    /** The greatest, such that buffers can have it. */
    long max() default 1 << 30;

    String message() default "must be a size from {min} to {max} bytes";

    Class<?>[] groups() default {};

    Class<? extends Payload>[] payload() default {};

    /** The test behind the annotation. */
    final class InRange implements ConstraintValidator<Bytes, DataSize> {

        private Bytes range;

        @Override
        public void initialize(Bytes annotation) {
            range = annotation;
        }

        @Override
        public boolean isValid(DataSize size, ConstraintValidatorContext context) {
            return size.toBytes() >= range.min() && size.toBytes() <= range.max();
        }
    }
}
