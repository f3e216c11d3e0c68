package refstack.remote;

import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import org.apache.hc.client5.http.classic.methods.HttpGet;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.HttpStatus;
import org.apache.hc.core5.http.io.entity.EntityUtils;
import refstack.core.BackendTimeoutException;
import refstack.core.BackendUnavailableException;
import refstack.core.Flight;
import refstack.core.FlightBackend;
import refstack.core.FlightKey;
import refstack.core.FlightSummary;
import refstack.transport.CallFailure;
import refstack.transport.Http;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.json.JsonMapper;

/** Flights by one HTTP call each to a node of role {@code backend}. */
class RemoteBackend implements FlightBackend {

    private final CloseableHttpClient client;
    private final String root;
    private final JsonMapper json;
    private final JavaType listType;
    private final JavaType detailType;

    RemoteBackend(CloseableHttpClient client, URI url, JsonMapper json) {
        this.client = client;
        this.root = Http.at(url, "/backend/flights").toString();
        this.json = json;
        this.listType = json.getTypeFactory()
                .constructCollectionType(List.class, FlightSummary.class);
        this.detailType = json.constructType(Flight.class);
    }

    @Override
    public List<FlightSummary> list() {
        return this.<List<FlightSummary>>get(root, listType).orElseThrow(() ->
                new BackendUnavailableException("The back end has no list of flights.", null));
    }

    @Override
    public Optional<Flight> detail(FlightKey key) {
        return get(root + "/" + key.carrid() + "/" + key.connid() + "/" + key.fldate(),
                detailType);
    }

    private <T> Optional<T> get(String url, JavaType type) {
        try {
            return client.execute(new HttpGet(url), response -> read(response, type));
        } catch (IOException | JacksonException e) {
            throw CallFailure.of("The back end", e);
        }
    }

    private <T> Optional<T> read(ClassicHttpResponse response, JavaType type)
            throws IOException {
        byte[] body = EntityUtils.toByteArray(response.getEntity());
        return switch (response.getCode()) {
            case HttpStatus.SC_OK -> Optional.of(json.<T>readValue(body, type));
            case HttpStatus.SC_NOT_FOUND -> Optional.empty();
            case HttpStatus.SC_GATEWAY_TIMEOUT ->
                throw new BackendTimeoutException("The back end timed out.", null);
            default -> throw new BackendUnavailableException(
                    "The back end answered with status " + response.getCode() + ".", null);
        };
    }
}
