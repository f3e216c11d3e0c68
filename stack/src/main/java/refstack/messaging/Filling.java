package refstack.messaging;

import java.util.SplittableRandom;
import refstack.core.queue.QueuedMessage;

/**
 * Messages of one seed: the same seed gives the same ids, and bodies of random bytes that depend
 * on seed and number alone.
 *
 * @param seed  tells fillings apart
 * @param bytes length of every body
 */
record Filling(long seed, int bytes) {

    QueuedMessage message(int number) {
        byte[] body = new byte[bytes];
        new SplittableRandom(seed * 0x9E3779B97F4A7C15L + number).nextBytes(body);
        return new QueuedMessage("fill-" + seed + "-" + number, body);
    }
}
