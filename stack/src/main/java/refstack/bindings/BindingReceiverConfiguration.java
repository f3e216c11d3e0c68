package refstack.bindings;

import org.apache.cxf.Bus;
import org.apache.cxf.bus.spring.SpringBus;
import org.apache.cxf.jaxws.EndpointImpl;
import org.apache.cxf.transport.servlet.CXFServlet;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.condition.ConditionalOnExpression;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import refstack.core.ConditionalOnBackend.Place;
import refstack.core.ConditionalOnBackend;
import refstack.core.ConditionalOnPart;
import refstack.core.Part;
import refstack.transport.RpcEndpoint;
import refstack.transport.Soap;

/** The ways into the receiver: in the back end node, or in an app node that has none. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBackend(Place.LOCAL)
@ConditionalOnPart(Part.BINDINGS)
class BindingReceiverConfiguration {

    @Bean
    ServletRegistrationBean<CXFServlet> bindingSoapServlet(
            @Qualifier("bindingBus") SpringBus bus) {
        return Soap.servlet("binding-soap", bus, SoapEndpoint.SERVLET + "/*");
    }

    @Bean
    EndpointImpl bindingSoapEndpoint(@Qualifier("bindingBus") Bus bus, Receiver receiver) {
        EndpointImpl endpoint = new EndpointImpl(bus, new SoapEndpoint(receiver));
        endpoint.publish(SoapEndpoint.PATH);
        return endpoint;
    }

    @Bean
    RpcEndpoint bindingRpcEndpoint(Receiver receiver, Pools pools, BindingProperties properties,
            @Value("${server.address}") String address,
            @Value("${refstack.rpc.port:0}") int port) {
        return new RpcReceiver(receiver, pools.rpc()).at(address, port, properties.maxBytes());
    }

    @Bean
    @ConditionalOnExpression("!'${refstack.broker.url:}'.isBlank()")
    JmsReceiver bindingJmsReceiver(@Value("${refstack.broker.url}") String url,
            Receiver receiver, Pools pools, BindingProperties properties) {
        return new JmsReceiver(url, receiver, pools.jms(), properties);
    }
}
