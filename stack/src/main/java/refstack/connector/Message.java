package refstack.connector;

/**
 * What an app node hands to the back end.
 *
 * @param id   chosen by the sender; a message of the same id is stored once
 * @param body its bytes
 */
record Message(String id, byte[] body) {

    private static final int MAX_ID = 64;

    Message {
        if (id.isEmpty() || id.length() > MAX_ID || !id.chars().allMatch(Message::isPlain)) {
            throw new IllegalArgumentException("The id must have 1 to " + MAX_ID
                    + " letters, digits, points, colons, hyphens and underscores.");
        }
        if (body.length == 0) {
            throw new IllegalArgumentException("A message must not be empty.");
        }
    }

    private static boolean isPlain(int c) {
        return c < 128 && (Character.isLetterOrDigit(c) || ".:-_".indexOf(c) >= 0);
    }
}
