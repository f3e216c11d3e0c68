package refstack.xml;

import io.micrometer.core.instrument.MeterRegistry;
import java.util.List;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import refstack.core.ConditionalOnApp;
import refstack.core.DocumentTransformation;
import refstack.core.Part;

/** Everything of this package, in app nodes that have the part. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnApp(Part.XML)
class XmlConfiguration {

    @Bean
    DocumentTransformation documentTransformation(XmlProperties properties,
            JdbcTemplate database, MeterRegistry registry) {
        SecureParsers parsers = new SecureParsers(properties.maxDepth());
        List<Transformation> ways = List.of(Stylesheet.saxon(parsers), Stylesheet.jdk(parsers),
                new ActionInterpreter(parsers));
        return new DocumentTransformer(ways, new DocumentStore(database),
                new DocumentMetrics(ways, registry), (int) properties.maxBody().toBytes());
    }
}
