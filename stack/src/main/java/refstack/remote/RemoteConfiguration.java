package refstack.remote;

import io.micrometer.core.instrument.binder.httpcomponents.hc5.PoolingHttpClientConnectionManagerMetricsBinder;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.config.RequestConfig;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManager;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder;
import org.apache.hc.core5.util.TimeValue;
import org.apache.hc.core5.util.Timeout;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import refstack.core.BackendProperties;
import refstack.core.ConditionalOnBackend;
import refstack.core.ConditionalOnBackend.Place;
import refstack.core.FlightBackend;
import tools.jackson.databind.json.JsonMapper;

/** The pooled client, and the back end over it, of a node whose back end is elsewhere. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBackend(Place.REMOTE)
class RemoteConfiguration {

    /** All connections go to one address, so the limits in total and per route are the same. */
    @Bean(destroyMethod = "close")
    PoolingHttpClientConnectionManager backendConnections(RemoteProperties properties) {
        return PoolingHttpClientConnectionManagerBuilder.create()
                .setMaxConnTotal(properties.maxConnections())
                .setMaxConnPerRoute(properties.maxConnections())
                .setDefaultConnectionConfig(ConnectionConfig.custom()
                        .setConnectTimeout(Timeout.of(properties.connectTimeout()))
                        .setSocketTimeout(Timeout.of(properties.responseTimeout()))
                        .setValidateAfterInactivity(TimeValue.ofSeconds(2))
                        .build())
                .build();
    }

    /** Neither retries nor follows nor decodes: one call of the back end is one request. */
    @Bean(destroyMethod = "close")
    CloseableHttpClient backendClient(PoolingHttpClientConnectionManager backendConnections,
            RemoteProperties properties) {
        return HttpClients.custom()
                .setConnectionManager(backendConnections)
                .setDefaultRequestConfig(RequestConfig.custom()
                        .setConnectionRequestTimeout(Timeout.of(properties.acquireTimeout()))
                        .setResponseTimeout(Timeout.of(properties.responseTimeout()))
                        .build())
                .disableAutomaticRetries()
                .disableRedirectHandling()
                .disableContentCompression()
                .disableCookieManagement()
                .build();
    }

    @Bean
    FlightBackend remoteBackend(CloseableHttpClient backendClient, BackendProperties properties,
            JsonMapper json) {
        return properties.decorate(new RemoteBackend(backendClient, properties.url(), json));
    }

    /** The series {@code httpcomponents_httpclient_pool_*} with {@code httpclient="backend"}. */
    @Bean
    PoolingHttpClientConnectionManagerMetricsBinder backendConnectionMetrics(
            PoolingHttpClientConnectionManager backendConnections) {
        return new PoolingHttpClientConnectionManagerMetricsBinder(backendConnections, "backend");
    }
}
