package refstack.connector;

import io.micrometer.core.instrument.MeterRegistry;
import java.nio.file.Path;
import org.apache.cxf.bus.spring.SpringBus;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import refstack.core.BackendProperties;
import refstack.core.ConditionalOnPart;
import refstack.core.ConditionalOnRole;
import refstack.core.Part;
import refstack.core.Role;

/** The three ways of an app node to its back end. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnRole(Role.APP)
@ConditionalOnPart(Part.CONNECTORS)
class SenderConfiguration {

    @Bean(destroyMethod = "shutdown")
    SpringBus soapBus() {
        return SoapLibrary.bus();
    }

    @Bean
    Connector soapConnector(SpringBus soapBus, BackendProperties backend,
            ConnectorProperties properties, MeterRegistry registry) {
        return new SoapConnector(soapBus, backend.url(), properties, registry);
    }

    @Bean
    RpcPool plainPool(@Value("${refstack.backend.rpc}") String address,
            ConnectorProperties properties, MeterRegistry registry) {
        return new RpcPool(RpcConnector.WAY, () -> new RpcConnection(address, properties),
                properties, registry);
    }

    @Bean
    Connector rpcConnector(@Qualifier("plainPool") RpcPool pool, MeterRegistry registry) {
        return new RpcConnector(pool, registry);
    }

    @Bean
    RpcPool managedPool(@Value("${refstack.backend.rpc}") String address,
            ConnectorProperties properties, MeterRegistry registry) {
        return new RpcPool(LoggedConnector.WAY, () -> new RpcConnection(address, properties),
                properties, registry);
    }

    @Bean
    Transactions transactions(@Value("${refstack.node.name}") String node,
            @Value("${refstack.node.data}") Path data,
            @Value("${refstack.backend.rpc}") String address, ConnectorProperties properties,
            MeterRegistry registry) {
        return new Transactions(node, data.resolve("transactions"),
                new RpcConnection(address, properties), registry);
    }

    @Bean
    Connector loggedConnector(@Qualifier("managedPool") RpcPool pool, Transactions transactions,
            MeterRegistry registry) {
        return new LoggedConnector(pool, transactions.manager(), registry);
    }
}
