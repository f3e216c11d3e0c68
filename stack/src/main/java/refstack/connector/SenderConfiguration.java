package refstack.connector;

import io.micrometer.core.instrument.MeterRegistry;
import java.nio.file.Path;
import org.apache.cxf.bus.spring.SpringBus;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import refstack.core.BackendProperties;
import refstack.core.ConditionalOnApp;
import refstack.core.Part;
import refstack.transport.Soap;

/** The three ways of an app node to its back end. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnApp(Part.CONNECTORS)
class SenderConfiguration {

    @Bean(destroyMethod = "shutdown")
    SpringBus soapBus() {
        return Soap.bus();
    }

    @Bean
    Connector soapConnector(SpringBus soapBus, BackendProperties backend,
            ConnectorProperties properties) {
        return new Connector(Connector.SOAP,
                new SoapConnector(soapBus, backend.root(), properties)::send);
    }

    @Bean
    RpcPool plainPool(@Value("${refstack.backend.rpc}") String address,
            ConnectorProperties properties, MeterRegistry registry) {
        return new RpcPool(Connector.RPC, () -> new RpcConnection(address, properties),
                properties, registry);
    }

    @Bean
    Connector rpcConnector(@Qualifier("plainPool") RpcPool pool) {
        return new Connector(Connector.RPC,
                message -> pool.lend(connection -> connection.process(message, "")));
    }

    @Bean
    RpcPool managedPool(@Value("${refstack.backend.rpc}") String address,
            ConnectorProperties properties, MeterRegistry registry) {
        return new RpcPool(Connector.LOGGED, () -> new RpcConnection(address, properties),
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
    Connector loggedConnector(@Qualifier("managedPool") RpcPool pool, Transactions transactions) {
        return new Connector(Connector.LOGGED,
                new LoggedConnector(pool, transactions.manager())::send);
    }
}
