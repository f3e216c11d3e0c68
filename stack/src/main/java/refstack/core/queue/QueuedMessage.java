package refstack.core.queue;

/**
 * A message of a queue.
 *
 * @param id   the sender's name for it; a message that is sent again has the same
 * @param body its bytes
 */
public record QueuedMessage(String id, byte[] body) {
}
