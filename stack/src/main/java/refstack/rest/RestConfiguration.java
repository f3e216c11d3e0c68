package refstack.rest;

import org.glassfish.jersey.CommonProperties;
import org.glassfish.jersey.server.ResourceConfig;
import org.glassfish.jersey.server.ServerProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import refstack.core.ConditionalOnApp;
import refstack.core.Part;
import tools.jackson.databind.json.JsonMapper;

/** The Jersey application of an app node. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnApp(Part.REST)
class RestConfiguration {

    /** Everything is named here; Jersey is told not to look for more on the class path. */
    @Bean
    ResourceConfig restApplication(JsonMapper json) {
        return new ResourceConfig()
                .register(FlightResource.class)
                .register(new JsonWriter(json))
                .register(new XmlWriter())
                .register(new ContentLength())
                .register(new OperationFilter())
                .register(new FailureMapper())
                .property(CommonProperties.FEATURE_AUTO_DISCOVERY_DISABLE, true)
                .property(CommonProperties.MOXY_JSON_FEATURE_DISABLE, true)
                .property(ServerProperties.BV_FEATURE_DISABLE, true)
                .property(ServerProperties.WADL_FEATURE_DISABLE, true);
    }
}
