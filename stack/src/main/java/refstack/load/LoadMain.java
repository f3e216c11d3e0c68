package refstack.load;

import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Loads the flight sample: {@code LoadMain [--flights 400] [--seed 1] [--ledger 0] [--business 0]},
 * the latter being the items of a ledger and the users of a business (0: none, and no tables for
 * them), the database from the environment ({@code DB_URL}, {@code DB_USER}, {@code DB_PASSWORD}),
 * never from the command line where other users could read the password. Prints what it loaded as
 * one line of JSON. Ends with 2 if it was called wrongly and 1 if the database refused.
 */
public final class LoadMain {

    private static final String USAGE =
            "usage: LoadMain [--flights N] [--seed N] [--ledger N] [--business N]";

    private int flights = 400;
    private long seed = 1;
    private int ledger;
    private int business;

    private LoadMain() {
    }

    public static void main(String[] arguments) {
        int code = run(arguments, System.getenv());
        if (code != 0) {
            System.exit(code);
        }
    }

    static int run(String[] arguments, Map<String, String> environment) {
        LoadMain main = new LoadMain();
        try {
            main.parse(arguments);
            System.out.println(main.load(environment).json());
            return 0;
        } catch (IllegalArgumentException e) {
            System.err.println("LoadMain: " + e.getMessage() + " (" + USAGE + ")");
            return 2;
        } catch (SQLException | IOException e) {
            System.err.println("LoadMain: " + e.getMessage().replaceAll("\\s*\\R\\s*", " "));
            return 1;
        }
    }

    private void parse(String[] arguments) {
        for (int i = 0; i < arguments.length; i += 2) {
            if (i + 1 == arguments.length) {
                throw new IllegalArgumentException(arguments[i] + " needs a value");
            }
            long value = number(arguments[i], arguments[i + 1]);
            switch (arguments[i]) {
                case "--flights" ->
                        flights = inRange(arguments[i], value, 1, SampleFlights.MAX_FLIGHTS);
                case "--ledger" ->
                        ledger = value == 0 ? 0
                                : inRange(arguments[i], value, 2, SampleLedger.MAX_ITEMS);
                case "--business" ->
                        business = inRange(arguments[i], value, 0, SampleBusiness.MAX_USERS);
                case "--seed" -> seed = value;
                default -> throw new IllegalArgumentException("unknown " + arguments[i]);
            }
        }
    }

    private static long number(String name, String text) {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(name + " must be a number, not '" + text + "'");
        }
    }

    private static int inRange(String name, long value, int least, int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(name + " must be from " + least + " to " + most);
        }
        return (int) value;
    }

    private Loader.Result load(Map<String, String> environment) throws SQLException, IOException {
        String url = environment.get("DB_URL");
        if (url == null || !url.startsWith("jdbc:postgresql:")) {
            throw new IllegalArgumentException("DB_URL must be set to a jdbc:postgresql: URL");
        }
        try (Connection connection = DriverManager.getConnection(url,
                environment.getOrDefault("DB_USER", ""),
                environment.getOrDefault("DB_PASSWORD", ""))) {
            return new Loader(connection).load(flights, seed, samples());
        }
    }

    private List<Loader.Sample> samples() {
        List<Loader.Sample> samples = new ArrayList<>();
        if (ledger > 0) {
            samples.add(Loader.Sample.ledger(ledger, seed));
        }
        if (business > 0) {
            samples.add(Loader.Sample.business(business, seed));
        }
        return samples;
    }
}
