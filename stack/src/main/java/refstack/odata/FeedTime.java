package refstack.odata;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import org.apache.olingo.odata2.api.exception.ODataException;
import org.apache.olingo.odata2.api.processor.ODataResponse;
import refstack.core.FlightSummary;

/**
 * Puts the time of the last change of its flights into a feed. Olingo always writes the present
 * time, with up to three digits of a second but without trailing zeros: the same feed would be of
 * another size in one of ten requests.
 */
final class FeedTime {

    private static final String START = "<updated>";
    private static final String END = "</updated>";
    /** The feed's own element is among its first, before any entry. */
    private static final int SEARCHED = 2048;

    private FeedTime() {
    }

    /** The same feed with a fixed time; answers in JSON, which have none, are left alone. */
    static ODataResponse fix(ODataResponse feed, List<FlightSummary> flights)
            throws ODataException {
        byte[] body = Bodies.bytes(feed);
        Instant changed = flights.stream().map(FlightSummary::changedAt)
                .max(Comparator.naturalOrder()).orElse(Instant.EPOCH);
        return ODataResponse.fromResponse(feed).entity(fix(body, changed.toString())).build();
    }

    private static byte[] fix(byte[] body, String time) {
        String head = new String(body, 0, Math.min(SEARCHED, body.length),
                StandardCharsets.ISO_8859_1);
        int start = head.indexOf(START);
        int end = head.indexOf(END);
        if (body[0] != '<' || start < 0 || end < 0) {
            return body;
        }
        byte[] text = time.getBytes(StandardCharsets.US_ASCII);
        int from = start + START.length();
        byte[] result = new byte[from + text.length + body.length - end];
        System.arraycopy(body, 0, result, 0, from);
        System.arraycopy(text, 0, result, from, text.length);
        System.arraycopy(body, end, result, from + text.length, body.length - end);
        return result;
    }
}
