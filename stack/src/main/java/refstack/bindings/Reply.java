package refstack.bindings;

/**
 * What the receiver says of a payload.
 *
 * @param id       the payload's
 * @param bytes    size as received
 * @param checksum CRC-32C of the bytes as received
 * @param thread   name of the thread that took it
 * @param pool     name of the pool that the thread belongs to
 * @param node     name of the node that took it
 */
record Reply(String id, long bytes, long checksum, String thread, String pool, String node) {
}
