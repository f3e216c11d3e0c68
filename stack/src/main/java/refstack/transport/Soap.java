package refstack.transport;

import java.time.Duration;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.cxf.Bus;
import org.apache.cxf.bus.spring.SpringBus;
import org.apache.cxf.frontend.ClientProxy;
import org.apache.cxf.interceptor.Fault;
import org.apache.cxf.jaxws.JaxWsProxyFactoryBean;
import org.apache.cxf.logging.FaultListener;
import org.apache.cxf.transport.http.HTTPConduit;
import org.apache.cxf.transport.servlet.CXFServlet;
import org.apache.cxf.transports.http.configuration.HTTPClientPolicy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.web.servlet.ServletRegistrationBean;

/** The SOAP library as both sides use it. */
public final class Soap {

    private static final Logger LOGGER = LoggerFactory.getLogger(Soap.class);

    private Soap() {
    }

    /** Makes a bus whose failures are told by their answers, not by stack traces in the log. */
    public static SpringBus bus() {
        SpringBus bus = new SpringBus();
        FaultListener quiet = (failure, description, message) -> {
            if (failure instanceof Fault fault && fault.getCause() instanceof Error) {
                LOGGER.error("{}", description, failure);
            } else {
                LOGGER.debug("{}: {}", description, failure.toString());
            }
            return false;
        };
        bus.setProperty(FaultListener.class.getName(), quiet);
        return bus;
    }

    /** The servlet that serves what is published on a bus, without a page that lists it. */
    public static ServletRegistrationBean<CXFServlet> servlet(String name, SpringBus bus,
            String pattern) {
        CXFServlet servlet = new CXFServlet();
        servlet.setBus(bus);
        ServletRegistrationBean<CXFServlet> registration =
                new ServletRegistrationBean<>(servlet, pattern);
        registration.setName(name);
        registration.setLoadOnStartup(1);
        registration.setInitParameters(Map.of("hide-service-list-page", "true"));
        return registration;
    }

    /** Times that a client waits at most. A request is sent whole, with its length. */
    public static HTTPClientPolicy policy(Duration toConnect, Duration toAnswer) {
        HTTPClientPolicy policy = new HTTPClientPolicy();
        policy.setAllowChunking(false);
        policy.setConnectionTimeout(toConnect.toMillis());
        policy.setReceiveTimeout(toAnswer.toMillis());
        return policy;
    }

    /** A proxy of a service. It holds nothing of a call, so all threads share it. */
    public static <T> T client(Bus bus, Class<T> service, String address, HTTPClientPolicy policy,
            Consumer<JaxWsProxyFactoryBean> login) {
        JaxWsProxyFactoryBean factory = new JaxWsProxyFactoryBean();
        factory.setBus(bus);
        factory.setServiceClass(service);
        factory.setAddress(address);
        login.accept(factory);
        T client = factory.create(service);
        ((HTTPConduit) ClientProxy.getClient(client).getConduit()).setClient(policy);
        return client;
    }
}
