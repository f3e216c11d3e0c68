package refstack.nullserver;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * One client. Reads what is there, finds the requests that are complete in it, however the
 * network cut them, and sends their answers in one go.
 *
 * <p>A request ends with the first empty line: GET has no body. Output is buffered without limit
 * as long as requests of one read need, and nothing is read while a client does not take it.
 */
final class Connection {

    private static final int MAX_REQUEST = 16 * 1024;
    private static final int END_OF_HEAD = 0x0d0a0d0a;
    private static final byte[] GET = "GET ".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] COUNT = "GET /count ".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] BEGIN = "GET /begin ".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] TIMELINE = "GET /timeline ".getBytes(StandardCharsets.US_ASCII);

    private final ByteChannel channel;
    private final Answers answers;
    private final DelayLine delays;
    private final ByteBuffer input = ByteBuffer.allocateDirect(MAX_REQUEST);
    private final byte[] head = new byte[TIMELINE.length];
    private ByteBuffer output = ByteBuffer.allocateDirect(8 * 1024).limit(0);
    private int headBytes;
    private int lastBytes;
    private int requestBytes;
    private boolean isRefused;

    /** {@code delays} is null where every request is answered at once. */
    Connection(ByteChannel channel, Answers answers, DelayLine delays) {
        this.channel = channel;
        this.answers = answers;
        this.delays = delays;
    }

    /** Whether a part of the answers waits for the client to take it. */
    boolean hasOutput() {
        return output.hasRemaining();
    }

    /** Goes on as far as it can without waiting; false when the connection is over. */
    boolean advance() throws IOException {
        if (!hasOutput() && !isRefused) {
            if (channel.read(input) < 0) {
                return false;
            }
            input.flip();
            output.clear();
            answerCompleteRequests();
            input.clear();
            output.flip();
        }
        if (hasOutput()) {
            channel.write(output);
        }
        return hasOutput() || !isRefused;
    }

    /** Looks at each byte once; the state between reads is in the fields. */
    private void answerCompleteRequests() {
        while (input.hasRemaining() && !isRefused) {
            byte next = input.get();
            if (headBytes < head.length) {
                head[headBytes++] = next;
            }
            lastBytes = lastBytes << 8 | next & 0xff;
            requestBytes++;
            if (lastBytes == END_OF_HEAD) {
                answer();
                headBytes = 0;
                requestBytes = 0;
            } else if (requestBytes > MAX_REQUEST) {
                refuse();
            }
        }
    }

    /**
     * Sends the answer to a request that had to wait. Between two calls of {@link #advance} the
     * output is empty and a channel takes a whole answer, unless the client does not read: it then
     * loses the connection.
     */
    void answerLate() throws IOException {
        output.clear();
        send(answers.next());
        channel.write(output.flip());
        if (hasOutput()) {
            throw new IOException("a client that does not take its answer");
        }
    }

    void close() {
        try {
            channel.close();
        } catch (IOException e) {
            isRefused = true;
        }
    }

    private void answer() {
        if (startsWith(COUNT)) {
            send(answers.count());
        } else if (delays != null && startsWith(BEGIN)) {
            delays.begin();
            send(answers.count());
        } else if (delays != null && startsWith(TIMELINE)) {
            send(Answers.answer(delays.timeline()));
        } else if (delays != null && startsWith(GET)) {
            delays.add(this);
        } else if (startsWith(GET)) {
            send(answers.next());
        } else {
            refuse();
        }
    }

    private boolean startsWith(byte[] text) {
        return headBytes >= text.length
                && Arrays.equals(head, 0, text.length, text, 0, text.length);
    }

    private void refuse() {
        isRefused = true;
        send(Answers.REFUSAL);
    }

    private void send(byte[] answer) {
        if (output.remaining() < answer.length) {
            int needed = output.position() + answer.length;
            output = ByteBuffer.allocateDirect(2 * needed).put(output.flip());
        }
        output.put(answer);
    }
}
