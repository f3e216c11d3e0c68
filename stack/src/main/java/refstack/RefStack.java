package refstack;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;
import org.springframework.boot.webmvc.autoconfigure.WebMvcObservationAutoConfiguration;
import refstack.node.DataSourceSwitch;
import refstack.node.PartRules;

/**
 * Starts one node of the reference stack; {@code refstack.role} says which kind.
 *
 * <p>Requests are timed by a filter of {@code refstack.node} instead of Spring's observations.
 */
@SpringBootApplication(exclude = WebMvcObservationAutoConfiguration.class)
@ConfigurationPropertiesScan
public class RefStack {

    public static void main(String[] arguments) {
        application().run(arguments);
    }

    /** The application before its start: what {@link #main} runs, and what tests run. */
    static SpringApplication application() {
        SpringApplication application = new SpringApplication(RefStack.class);
        application.addListeners(new PartRules(), new DataSourceSwitch());
        return application;
    }
}
