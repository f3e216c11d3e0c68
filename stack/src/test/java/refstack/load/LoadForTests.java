package refstack.load;

import java.util.Map;

/** Opens the loader to tests of other packages. */
public final class LoadForTests {

    private LoadForTests() {
    }

    /** Loads the usual 400 flights. */
    public static void load(String url) {
        load(url, 0);
    }

    /** Loads them and a ledger of so many items. */
    public static void load(String url, int ledger) {
        String[] arguments = {"--flights", "400", "--seed", "1", "--ledger", "" + ledger};
        int code = LoadMain.run(arguments, Map.of("DB_URL", url, "DB_USER", "postgres"));
        if (code != 0) {
            throw new IllegalStateException("the loader ended with " + code);
        }
    }
}
