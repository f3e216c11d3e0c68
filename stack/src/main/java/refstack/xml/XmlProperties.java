package refstack.xml;

import jakarta.validation.constraints.Positive;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;
import refstack.core.Bytes;

/**
 * What a document may be.
 *
 * @param maxBody  largest document
 * @param maxDepth deepest nesting of its elements
 */
@ConfigurationProperties("refstack.xml")
record XmlProperties(
        @DefaultValue("4MB") @Bytes DataSize maxBody,
        @DefaultValue("32") @Positive int maxDepth) {
}
