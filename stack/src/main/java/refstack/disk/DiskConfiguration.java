package refstack.disk;

import io.micrometer.core.instrument.MeterRegistry;
import java.nio.file.Path;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import refstack.core.ConditionalOnApp;
import refstack.core.Part;
import tools.jackson.databind.json.JsonMapper;

/** Everything of this package, in app nodes that have the part. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnApp(Part.DISK)
class DiskConfiguration {

    @Bean
    DiskMetrics diskMetrics(MeterRegistry registry) {
        return new DiskMetrics(registry);
    }

    @Bean
    DiskJobs diskJobs(@Value("${refstack.node.data}") Path data, DiskProperties properties,
            DiskMetrics metrics, JsonMapper json) {
        return new DiskJobs(data, properties, new Fio(properties.fio(), json), metrics);
    }
}
