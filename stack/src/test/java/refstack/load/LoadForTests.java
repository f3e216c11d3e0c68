package refstack.load;

import java.util.Map;

/** Opens the loader to tests of other packages. */
public final class LoadForTests {

    private LoadForTests() {
    }

    /** Loads the usual 400 flights. */
    public static void load(String url) {
        load(url, "--ledger", "0");
    }

    /** Loads them and a ledger of so many items. */
    public static void load(String url, int ledger) {
        load(url, "--ledger", "" + ledger);
    }

    /** Loads them and a business of so many users. */
    public static void loadBusiness(String url, int users) {
        load(url, "--business", "" + users);
    }

    private static void load(String url, String sample, String size) {
        String[] arguments = {"--flights", "400", "--seed", "1", sample, size};
        int code = LoadMain.run(arguments, Map.of("DB_URL", url, "DB_USER", "postgres"));
        if (code != 0) {
            throw new IllegalStateException("the loader ended with " + code);
        }
    }
}
