package refstack.bindings;

import java.io.IOException;
import org.apache.hc.client5.http.classic.methods.HttpPost;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.core5.http.ConnectionRequestTimeoutException;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.io.entity.ByteArrayEntity;
import org.apache.hc.core5.http.io.entity.EntityUtils;
import refstack.transport.CallFailure;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/** A plain HTTP request over a pooled connection; the payload is its body. */
record HttpBinding(CloseableHttpClient client, ReceiverAddress address, JsonMapper json)
        implements Binding {

    static final String WAY = "http";

    @Override
    public String way() {
        return WAY;
    }

    @Override
    public Reply call(Payload payload) {
        HttpPost request = new HttpPost(
                address.at(HttpReceiver.PATH + "?id=" + payload.id() + "&work="
                        + payload.work().text()));
        request.setEntity(
                new ByteArrayEntity(payload.body(), ContentType.APPLICATION_OCTET_STREAM));
        try {
            return client.execute(request, answer -> {
                byte[] body = EntityUtils.toByteArray(answer.getEntity());
                if (answer.getCode() != 200) {
                    throw new IOException("status " + answer.getCode());
                }
                return json.readValue(body, Reply.class);
            });
        } catch (ConnectionRequestTimeoutException e) {
            throw new PoolFullException("of HTTP connections");
        } catch (IOException | JacksonException e) {
            throw CallFailure.of("The receiver", e);
        }
    }
}
