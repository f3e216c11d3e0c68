package refstack.xml;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * What a document may be.
 *
 * @param maxBody  largest document
 * @param maxDepth deepest nesting of its elements
 */
@ConfigurationProperties("refstack.xml")
record XmlProperties(@DefaultValue("4MB") DataSize maxBody, @DefaultValue("32") int maxDepth) {

    XmlProperties {
        if (maxBody.toBytes() < 1 || maxBody.toBytes() > 1 << 30) {
            throw new IllegalArgumentException(
                    "refstack.xml.max-body must be from 1 byte to 1 GB");
        }
    }
}
