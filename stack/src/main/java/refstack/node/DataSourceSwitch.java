package refstack.node;

import java.util.Map;
import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.context.ApplicationListener;
import org.springframework.core.env.MapPropertySource;
import refstack.core.ConditionalOnBackend.Place;

/**
 * Switches the data source off in nodes whose back end is remote, or that have none; everything
 * that needs one (templates, health, pool metrics) then stays away by itself. As a property, because Spring Boot
 * orders its own configurations only among themselves: a condition on one of ours that imports
 * the data source would come too late for them.
 */
public class DataSourceSwitch
        implements ApplicationListener<ApplicationEnvironmentPreparedEvent> {

    @Override
    public void onApplicationEvent(ApplicationEnvironmentPreparedEvent event) {
        if (Place.of(event.getEnvironment()) != Place.LOCAL) {
            event.getEnvironment().getPropertySources().addFirst(
                    new MapPropertySource("dataSourceSwitch", Map.of("spring.autoconfigure.exclude",
                            DataSourceAutoConfiguration.class.getName())));
        }
    }
}
