package refstack.node;

import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.env.Environment;
import org.springframework.stereotype.Component;
import refstack.core.Role;

/** Logs one line when the node is ready: its role and the ports it really listens on. */
@Component
class ReadyLine {

    private static final Logger LOGGER = LoggerFactory.getLogger(ReadyLine.class);

    private final Environment environment;

    ReadyLine(Environment environment) {
        this.environment = environment;
    }

    /** The port of remote procedure calls is there only in a node that has one. */
    @EventListener
    void onReady(ApplicationReadyEvent event) {
        String rpc = environment.getProperty("local.rpc.port");
        LOGGER.info("ready role={} port={} management={}{} seconds={} java={}",
                Role.of(environment).name().toLowerCase(Locale.ROOT),
                environment.getProperty("local.server.port"),
                environment.getProperty("local.management.port"),
                rpc == null ? "" : " rpc=" + rpc,
                event.getTimeTaken().toMillis() / 1000.0,
                Runtime.version());
    }
}
