package refstack.remote;

import io.micrometer.core.instrument.binder.httpcomponents.hc5.PoolingHttpClientConnectionManagerMetricsBinder;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import refstack.core.BackendProperties;
import refstack.core.ConditionalOnBackend.Place;
import refstack.core.ConditionalOnBackend;
import refstack.core.FlightBackend;
import refstack.transport.Http;
import tools.jackson.databind.json.JsonMapper;

/** The pooled client, and the back end over it, of a node whose back end is elsewhere. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBackend(Place.REMOTE)
class RemoteConfiguration {

    @Bean(destroyMethod = "close")
    PoolingHttpClientConnectionManager backendConnections(RemoteProperties properties) {
        return Http.connections(properties.maxConnections(), properties.connectTimeout(),
                properties.responseTimeout());
    }

    @Bean(destroyMethod = "close")
    CloseableHttpClient backendClient(PoolingHttpClientConnectionManager backendConnections,
            RemoteProperties properties) {
        return Http.client(backendConnections, properties.acquireTimeout(),
                properties.responseTimeout());
    }

    @Bean
    FlightBackend remoteBackend(CloseableHttpClient backendClient, BackendProperties properties,
            JsonMapper json) {
        return properties.decorate(new RemoteBackend(backendClient, properties.root(), json));
    }

    /** The series {@code httpcomponents_httpclient_pool_*} with {@code httpclient="backend"}. */
    @Bean
    PoolingHttpClientConnectionManagerMetricsBinder backendConnectionMetrics(
            PoolingHttpClientConnectionManager backendConnections) {
        return new PoolingHttpClientConnectionManagerMetricsBinder(backendConnections, "backend");
    }
}
