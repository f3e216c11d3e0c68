package refstack;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/**
 * Starts nodes one after the other in a JVM of its own: most of a node's start is that of its JVM.
 *
 * <p>Each line of standard input holds the settings of one. Behind what a node prints, a line says
 * whether it started.
 */
final class NodesInTurn {

    static final String REFUSED = "-- refused";
    static final String STARTED = "-- started";

    private NodesInTurn() {
    }

    public static void main(String[] unused) throws IOException {
        BufferedReader asked = new BufferedReader(
                new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = asked.readLine(); line != null; line = asked.readLine()) {
            System.out.println(start(line.split(" ")));
        }
    }

    private static String start(String... settings) {
        try {
            RefStack.main(settings);
            return STARTED;
        } catch (RuntimeException refused) {  // told by then, or nothing was printed
            return REFUSED;
        }
    }
}
