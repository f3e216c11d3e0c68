package refstack.transport;

import java.net.URI;
import java.time.Duration;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.config.RequestConfig;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManager;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder;
import org.apache.hc.core5.util.TimeValue;
import org.apache.hc.core5.util.Timeout;

/** Plain HTTP between nodes, over connections that are kept. */
public final class Http {

    private Http() {
    }

    /** All connections go to one address, so the limits in total and per route are the same. */
    public static PoolingHttpClientConnectionManager connections(int most, Duration toConnect,
            Duration toAnswer) {
        return PoolingHttpClientConnectionManagerBuilder.create()
                .setMaxConnTotal(most)
                .setMaxConnPerRoute(most)
                .setDefaultConnectionConfig(ConnectionConfig.custom()
                        .setConnectTimeout(Timeout.of(toConnect))
                        .setSocketTimeout(Timeout.of(toAnswer))
                        .setValidateAfterInactivity(TimeValue.ofSeconds(2))
                        .build())
                .build();
    }

    /** Neither retries nor follows nor decodes: one call is one request. */
    public static CloseableHttpClient client(PoolingHttpClientConnectionManager connections,
            Duration toAcquire, Duration toAnswer) {
        return HttpClients.custom()
                .setConnectionManager(connections)
                .setDefaultRequestConfig(RequestConfig.custom()
                        .setConnectionRequestTimeout(Timeout.of(toAcquire))
                        .setResponseTimeout(Timeout.of(toAnswer))
                        .build())
                .disableAutomaticRetries()
                .disableRedirectHandling()
                .disableContentCompression()
                .disableCookieManagement()
                .build();
    }

    /** A path of a node, whether or not the address of its root ends in a slash. */
    public static URI at(URI root, String path) {
        return URI.create(root.toString().replaceAll("/+$", "") + path);
    }
}
