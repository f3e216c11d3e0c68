package refstack.broker;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.micrometer.core.instrument.binder.jvm.JvmCompilationMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Health and metrics of a broker's process, at the paths and under the names of the nodes. */
final class ManagementPage implements AutoCloseable {

    private static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";
    private static final String NAMES = "includedNames=";

    private final PrometheusMeterRegistry registry =
            new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final JvmGcMetrics collections = new JvmGcMetrics();
    private final ExecutorService threads =
            Executors.newFixedThreadPool(2, work -> new Thread(work, "management"));
    private final Broker broker;
    private final HttpServer server;

    ManagementPage(Broker broker, InetAddress address, int port) throws IOException {
        this.broker = broker;
        collections.bindTo(registry);
        new JvmMemoryMetrics().bindTo(registry);
        new JvmThreadMetrics().bindTo(registry);
        new JvmCompilationMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
        new FileDescriptorMetrics().bindTo(registry);
        new UptimeMetrics().bindTo(registry);
        new BrokerMetrics(broker).bindTo(registry);
        server = HttpServer.create(new InetSocketAddress(address, port), 0);
        server.createContext("/actuator/prometheus", this::metrics);
        server.createContext("/actuator/health", this::health);
        server.setExecutor(threads);
        server.start();
    }

    int port() {
        return server.getAddress().getPort();
    }

    private void metrics(HttpExchange exchange) throws IOException {
        String query = exchange.getRequestURI().getRawQuery();
        String text = query != null && query.startsWith(NAMES)
                ? registry.scrape(CONTENT_TYPE, names(query.substring(NAMES.length())))
                : registry.scrape(CONTENT_TYPE);
        answer(exchange, 200, CONTENT_TYPE, text);
    }

    private static Set<String> names(String value) {
        return Set.copyOf(
                Arrays.asList(URLDecoder.decode(value, StandardCharsets.UTF_8).split(",")));
    }

    private void health(HttpExchange exchange) throws IOException {
        boolean isUp = broker.isActive();
        answer(exchange, isUp ? 200 : 503, "application/json",
                isUp ? "{\"status\":\"UP\"}" : "{\"status\":\"OUT_OF_SERVICE\"}");
    }

    private static void answer(HttpExchange exchange, int status, String type, String text)
            throws IOException {
        try (exchange) {
            byte[] body = text.getBytes(StandardCharsets.UTF_8);
            exchange.getRequestBody().readNBytes(1024);
            exchange.getResponseHeaders().set("Content-Type", type);
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
        }
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
        collections.close();
        registry.close();
    }
}
