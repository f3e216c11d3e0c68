package refstack.bindings;

import java.net.URI;
import java.time.Duration;
import org.apache.cxf.bus.spring.SpringBus;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.condition.ConditionalOnExpression;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import refstack.core.BackendProperties;
import refstack.core.ConditionalOnApp;
import refstack.core.ConditionalOnBackend.Place;
import refstack.core.Part;
import refstack.transport.Http;
import refstack.transport.RpcEndpoint;
import tools.jackson.databind.json.JsonMapper;

/** The bindings of a sender, in the order in which they are listed. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnApp(Part.BINDINGS)
class BindingSenderConfiguration {

    /** The back end, or this node itself over its own ports. */
    @Bean
    ReceiverAddress bindingReceiverAddress(Environment environment, BackendProperties backend,
            ObjectProvider<RpcEndpoint> own) {
        if (Place.of(environment) == Place.REMOTE) {
            return new ReceiverAddress(backend::root,
                    () -> environment.getRequiredProperty("refstack.backend.rpc"));
        }
        String host = environment.getProperty("server.address", "127.0.0.1");
        return new ReceiverAddress(
                () -> URI.create("http://" + host + ":"
                        + environment.getProperty("local.server.port")),
                () -> host + ":" + own.getObject().port());
    }

    @Bean
    @Order(1)
    Binding directBinding(Receiver receiver) {
        return new DirectBinding(receiver);
    }

    @Bean
    @Order(2)
    Binding copyBinding(Receiver receiver) {
        return new CopyBinding(receiver);
    }

    @Bean
    @Order(3)
    Binding queueBinding(Receiver receiver, Pools pools, BindingProperties properties) {
        return new QueueBinding(receiver, pools.queue(), properties.timeout());
    }

    /** Only with a broker. */
    @Bean
    @Order(4)
    @ConditionalOnExpression("!'${refstack.broker.url:}'.isBlank()")
    JmsBinding jmsBinding(@Value("${refstack.broker.url}") String url,
            BindingProperties properties) {
        return new JmsBinding(url, properties);
    }

    @Bean
    CloseableHttpClient bindingHttpClient(BindingProperties properties) {
        Duration timeout = properties.timeout();
        return Http.client(Http.connections(properties.connections(), timeout, timeout), timeout,
                timeout);
    }

    @Bean
    @Order(5)
    Binding httpBinding(@Qualifier("bindingHttpClient") CloseableHttpClient client,
            ReceiverAddress address, JsonMapper json) {
        return new HttpBinding(client, address, json);
    }

    @Bean
    @Order(6)
    Binding soapBinding(@Qualifier("bindingBus") SpringBus bus, ReceiverAddress address,
            BindingProperties properties) {
        return SoapBinding.of(bus, address, properties.timeout());
    }

    @Bean
    @Order(7)
    RpcBinding rpcBinding(ReceiverAddress address, BindingProperties properties) {
        return new RpcBinding(address, properties.timeout());
    }
}
