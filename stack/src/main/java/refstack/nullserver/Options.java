package refstack.nullserver;

/**
 * The command line.
 *
 * @param port      where to listen; 0 = any free port
 * @param bodyBytes bytes of every body
 */
record Options(int port, int bodyBytes) {

    private static final int MAX_BODY = 64 * 1024 * 1024;

    static Options parse(String[] arguments) {
        int port = 0;
        int bodyBytes = 1024;
        for (int i = 0; i < arguments.length; i += 2) {
            String value = i + 1 < arguments.length ? arguments[i + 1] : "";
            switch (arguments[i]) {
                case "--port" -> port = number(arguments[i], value, 65_535);
                case "--body-bytes" -> bodyBytes = number(arguments[i], value, MAX_BODY);
                default -> throw new IllegalArgumentException("unknown " + arguments[i]);
            }
        }
        return new Options(port, bodyBytes);
    }

    private static int number(String name, String text, int max) {
        try {
            int value = Integer.parseInt(text);
            if (value >= 0 && value <= max) {
                return value;
            }
        } catch (NumberFormatException e) {
            // falls through to the same message
        }
        throw new IllegalArgumentException(
                name + " must be from 0 to " + max + ", not '" + text + "'");
    }
}
