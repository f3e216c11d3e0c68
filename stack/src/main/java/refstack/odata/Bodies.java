package refstack.odata;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import org.apache.olingo.odata2.api.processor.ODataResponse;

/** Bodies of Olingo's responses, which come as streams, texts or arrays. */
final class Bodies {

    private Bodies() {
    }

    /** The whole body. */
    static byte[] bytes(ODataResponse response) {
        Object body = response.getEntity();
        if (body == null) {
            return new byte[0];
        }
        if (body instanceof byte[] bytes) {
            return bytes;
        }
        if (body instanceof InputStream stream) {
            try (stream) {
                return stream.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return body.toString().getBytes(StandardCharsets.UTF_8);
    }
}
