package refstack.node;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.bind.validation.BindValidationException;
import org.springframework.boot.context.properties.bind.validation.ValidationErrors;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.convert.ConversionException;
import org.springframework.util.unit.DataSize;
import org.springframework.validation.FieldError;
import org.springframework.validation.ObjectError;
import refstack.core.WrongSettingException;

/**
 * Makes a wrong setting a message that names the property, what was found and what is expected,
 * whether a record's constraints refused it, it is not of the property's type, or the node's rules
 * are against it.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
class WrongSettingAnalyzer implements FailureAnalyzer {

    @Override
    public FailureAnalysis analyze(Throwable failure) {
        BindException unbound = null;
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof BindException one) {
                unbound = one;
            }
            String words = cause instanceof WrongSettingException ? cause.getMessage()
                    : cause instanceof BindValidationException refused
                    ? words(refused.getValidationErrors())
                    : cause instanceof ConversionException && unbound != null ? words(unbound)
                    : null;
            if (words != null) {
                return new FailureAnalysis(words, null, cause);
            }
        }
        return null;
    }

    private static String words(ValidationErrors errors) {
        return StreamSupport.stream(errors.spliterator(), false)
                .map(error -> words(errors, error)).sorted().collect(Collectors.joining("; "));
    }

    private static String words(ValidationErrors errors, ObjectError error) {
        if (!(error instanceof FieldError field)) {
            return errors.getName() + ": it " + error.getDefaultMessage();
        }
        ConfigurationPropertyName name = errors.getName();
        for (String part : field.getField().split("\\.")) {
            name = name.append(DataObjectPropertyName.toDashedForm(part));
        }
        ConfigurationPropertyName told = name;
        Object found = errors.getBoundProperties().stream()
                .filter(property -> property.getName().equals(told)).findFirst()
                .<Object>map(property -> property.getValue()).orElse(field.getRejectedValue());
        return WrongSettingException.of(name.toString(), found, error.getDefaultMessage())
                .getMessage();
    }

    private static String words(BindException failure) {
        Class<?> type = failure.getTarget().getType().resolve(Object.class);
        String expected = List.of(int.class, long.class, Integer.class).contains(type)
                ? "a whole number"
                : type == boolean.class ? "true or false"
                : type == Duration.class ? "a time such as 5s or 200ms"
                : type == DataSize.class ? "a size such as 64KB"
                : type.isEnum() ? "one of " + Arrays.stream(type.getEnumConstants())
                        .map(one -> one.toString().toLowerCase(Locale.ROOT)).toList()
                : "a " + type.getSimpleName();
        return WrongSettingException.of(failure.getName().toString(),
                failure.getProperty() == null ? "" : failure.getProperty().getValue(),
                "must be " + expected).getMessage();
    }
}
