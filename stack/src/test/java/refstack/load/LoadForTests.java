package refstack.load;

import java.util.Map;

/** Opens the loader to tests of other packages. */
public final class LoadForTests {

    private LoadForTests() {
    }

    /** Loads the usual 400 flights. */
    public static void load(String url) {
        int code = LoadMain.run(new String[] {"--flights", "400", "--seed", "1"},
                Map.of("DB_URL", url, "DB_USER", "postgres"));
        if (code != 0) {
            throw new IllegalStateException("the loader ended with " + code);
        }
    }
}
