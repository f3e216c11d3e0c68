package refstack.nullserver;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** The answers of a server and how many it has given. Used by its one thread only. */
final class Answers {

    static final byte[] REFUSAL = ("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n"
            + "Connection: close\r\n\r\n").getBytes(StandardCharsets.US_ASCII);

    private final byte[] fixed;
    private long given;

    Answers(int bodyBytes) {
        byte[] body = new byte[bodyBytes];
        Arrays.fill(body, (byte) 'x');
        fixed = answer(body);
    }

    /** The answer to any request but {@code /count}; counted. */
    byte[] next() {
        given++;
        return fixed;
    }

    /** The answer to {@code /count}. */
    byte[] count() {
        return answer(Long.toString(given).getBytes(StandardCharsets.US_ASCII));
    }

    /** A 200 with this body. */
    static byte[] answer(byte[] body) {
        byte[] head = ("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: "
                + body.length + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII);
        byte[] whole = Arrays.copyOf(head, head.length + body.length);
        System.arraycopy(body, 0, whole, head.length, body.length);
        return whole;
    }
}
