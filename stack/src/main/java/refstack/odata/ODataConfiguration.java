package refstack.odata;

import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import refstack.core.ConditionalOnApp;
import refstack.core.FlightBackend;
import refstack.core.Part;
import refstack.core.ReferenceSizes;

/** The two OData services of an app node. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnApp(Part.ODATA)
class ODataConfiguration {

    @Bean
    ServletRegistrationBean<ODataServlet> standardService(FlightBackend backend) {
        return service(new StandardMode(), backend);
    }

    @Bean
    ServletRegistrationBean<ODataServlet> compatibilityService(FlightBackend backend) {
        return service(new CompatibilityMode(), backend);
    }

    @Bean
    ReferenceSizes atomSizes() {
        return new AtomSizes(new StandardMode());
    }

    private static ServletRegistrationBean<ODataServlet> service(Mode mode,
            FlightBackend backend) {
        ServletRegistrationBean<ODataServlet> registration = new ServletRegistrationBean<>(
                new ODataServlet(new ODataEngine(mode, backend)), mode.path() + "/*");
        registration.setName("odata-" + mode.name());
        registration.setLoadOnStartup(1);
        return registration;
    }
}
