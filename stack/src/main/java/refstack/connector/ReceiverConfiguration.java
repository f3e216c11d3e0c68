package refstack.connector;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.jvm.ExecutorServiceMetrics;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
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
import refstack.core.NamedThreads;
import refstack.core.Part;
import refstack.core.Role;
import refstack.transport.RpcEndpoint;
import refstack.transport.Soap;

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
        return Soap.bus();
    }

    @Bean
    ServletRegistrationBean<CXFServlet> soapServlet(SpringBus soapBus) {
        return Soap.servlet("soap", soapBus, SOAP);
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
        ExecutorService executor =
                Executors.newFixedThreadPool(threads, NamedThreads.of(name));
        ExecutorServiceMetrics.monitor(registry, executor, name);
        return executor;
    }

    @Bean
    RpcEndpoint rpcEndpoint(BackEndSystem system, Branches branches, Logins logins,
            @Value("${server.address}") String address, @Value("${refstack.rpc.port}") int port,
            @Qualifier("rpcCalls") ExecutorService calls,
            @Qualifier("rpcEnds") ExecutorService ends, ConnectorProperties properties,
            ConfigurableEnvironment environment, MeterRegistry registry) {
        RpcEndpoint endpoint = new RpcServer(system, branches, logins.over("rpc"),
                new InetSocketAddress(address, port),
                real -> environment.getPropertySources().addFirst(new MapPropertySource(
                        "rpc", Map.of("local.rpc.port", Integer.toString(real)))),
                properties.maxFrame(), new RpcServer.Threads(calls, ends), registry).endpoint();
        registry.gauge("refstack.connector.rpc.port", endpoint, RpcEndpoint::port);
        return endpoint;
    }
}
