package refstack.connector;

/**
 * The back end's answer.
 *
 * @param id     of the message
 * @param bytes  bytes of the body as they were received
 * @param stored whether the id was new
 */
record StoredReceipt(String id, long bytes, boolean stored) {
}
