package refstack.connector;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.jvm.ExecutorServiceMetrics;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.apache.cxf.bus.spring.SpringBus;
import org.apache.cxf.jaxws.EndpointImpl;
import org.apache.cxf.transport.servlet.CXFServlet;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;
import refstack.core.ConditionalOnPart;
import refstack.core.ConditionalOnRole;
import refstack.core.Part;
import refstack.core.Role;

/** The back-end system of a back end node, over SOAP and over remote procedure calls. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnRole(Role.BACKEND)
@ConditionalOnPart(Part.CONNECTORS)
class ReceiverConfiguration {

    private static final String SOAP = "/soap/*";

    @Bean
    BackEndSystem backEndSystem(DataSource database, ConnectorProperties properties,
            MeterRegistry registry) {
        return new BackEndSystem(database, properties.callTimeout(), registry);
    }

    @Bean
    Branches branches(DataSource database, BackEndSystem system, MeterRegistry registry) {
        return new Branches(database, system,
                Duration.ofSeconds(BranchResource.TIMEOUT_SECONDS), registry);
    }

    @Bean
    Logins logins(ConnectorProperties properties, MeterRegistry registry) {
        return new Logins(properties, registry);
    }

    @Bean(destroyMethod = "shutdown")
    SpringBus soapBus() {
        return SoapLibrary.bus();
    }

    @Bean
    ServletRegistrationBean<CXFServlet> soapServlet(SpringBus soapBus) {
        CXFServlet servlet = new CXFServlet();
        servlet.setBus(soapBus);
        ServletRegistrationBean<CXFServlet> registration =
                new ServletRegistrationBean<>(servlet, SOAP);
        registration.setName("soap");
        registration.setLoadOnStartup(1);
        registration.setInitParameters(Map.of("hide-service-list-page", "true"));
        return registration;
    }

    @Bean
    EndpointImpl soapEndpoint(SpringBus soapBus, BackEndSystem system, Logins logins,
            MeterRegistry registry) {
        return SoapServer.publish(soapBus, new SoapServer(system, registry), logins.over("soap"));
    }

    @Bean
    FilterRegistrationBean<SoapFrontDoor> soapFrontDoor(ConnectorProperties properties,
            MeterRegistry registry) {
        FilterRegistrationBean<SoapFrontDoor> registration = new FilterRegistrationBean<>(
                new SoapFrontDoor(properties.maxEnvelope(), registry));
        registration.addUrlPatterns(SOAP);
        return registration;
    }

    @Bean(destroyMethod = "shutdown")
    ExecutorService rpcCalls(@Value("${refstack.rpc.threads}") int threads,
            MeterRegistry registry) {
        return threads("rpc", threads, registry);
    }

    @Bean(destroyMethod = "shutdown")
    ExecutorService rpcEnds(@Value("${refstack.rpc.threads}") int threads,
            MeterRegistry registry) {
        return threads("rpc-ends", threads, registry);
    }

    private static ExecutorService threads(String name, int threads, MeterRegistry registry) {
        AtomicInteger number = new AtomicInteger();
        ExecutorService executor = Executors.newFixedThreadPool(threads,
                work -> new Thread(work, name + "-" + number.incrementAndGet()));
        ExecutorServiceMetrics.monitor(registry, executor, name);
        return executor;
    }

    @Bean
    RpcServer rpcServer(BackEndSystem system, Branches branches, Logins logins,
            @Value("${server.address}") String address, @Value("${refstack.rpc.port}") int port,
            @Qualifier("rpcCalls") ExecutorService calls,
            @Qualifier("rpcEnds") ExecutorService ends, ConnectorProperties properties,
            ConfigurableEnvironment environment, MeterRegistry registry) {
        RpcServer server = new RpcServer(system, branches, logins.over("rpc"),
                new InetSocketAddress(address, port),
                real -> environment.getPropertySources().addFirst(new MapPropertySource(
                        "rpc", Map.of("local.rpc.port", Integer.toString(real)))),
                properties.maxFrame(), new RpcServer.Threads(calls, ends), registry);
        registry.gauge("refstack.connector.rpc.port", server, RpcServer::port);
        return server;
    }
}
