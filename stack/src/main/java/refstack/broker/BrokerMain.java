package refstack.broker;

import java.net.BindException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/**
 * A broker in a process of its own: {@code BrokerMain --port N --management-port N --data FOLDER},
 * and further {@code --name value} settings ({@link BrokerSettings}). Listens on the
 * loopback interface unless {@code --address} names another. Prints one line when it is ready; SIGTERM stops it. Ends with 2 if it was called
 * wrongly and 1 if it cannot start.
 */
public final class BrokerMain {

    private BrokerMain() {
    }

    public static void main(String[] arguments) {
        // Before the first logger: without it logback would print everything that Artemis says.
        System.setProperty("logback.configurationFile", "refstack/broker/logback.xml");
        try {
            run(arguments);
        } catch (IllegalArgumentException e) {
            fail(2, e.getMessage());
        } catch (BindException e) {
            fail(1, "cannot listen on one of its ports: " + e.getMessage());
        } catch (Exception e) {
            fail(1, e.toString().replaceAll("\\s*\\R\\s*", " "));
        }
    }

    private static void run(String[] arguments) throws Exception {
        Map<String, String> given = parse(arguments);
        int port = port(given.remove("port"), "port");
        int managementPort = port(given.remove("management-port"), "management-port");
        String data = given.remove("data");
        InetAddress address = address(given.remove("address"));
        if (data == null || port == 0) {
            throw new IllegalArgumentException("--port and --data are needed");
        }
        BrokerSettings settings = BrokerSettings.of(given);
        long begin = System.nanoTime();
        Broker broker = Broker.listening(address, port, Path.of(data), settings);
        ManagementPage page = new ManagementPage(broker, address, managementPort);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(broker, page), "stop"));
        System.out.printf("ready role=broker port=%d management=%d seconds=%.3f java=%s%n", port,
                page.port(), (System.nanoTime() - begin) / 1e9, Runtime.version());
    }

    private static Map<String, String> parse(String[] arguments) {
        Map<String, String> given = new TreeMap<>();
        for (int i = 0; i < arguments.length; i += 2) {
            if (!arguments[i].startsWith("--") || i + 1 == arguments.length) {
                throw new IllegalArgumentException(
                        "settings are given as --name value, not '" + arguments[i] + "'");
            }
            given.put(arguments[i].substring(2), arguments[i + 1]);
        }
        return given;
    }

    private static InetAddress address(String text) {
        try {
            return text == null ? InetAddress.getLoopbackAddress() : InetAddress.getByName(text);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("--address must be an address, not '" + text + "'");
        }
    }

    private static int port(String text, String name) {
        try {
            int port = Integer.parseInt(text == null ? "0" : text);
            if (port >= 0 && port <= 65_535) {
                return port;
            }
        } catch (NumberFormatException e) {
            // falls through to the same message
        }
        throw new IllegalArgumentException("--" + name + " must be a port, not '" + text + "'");
    }

    private static void stop(Broker broker, ManagementPage page) {
        try {
            page.close();
            broker.close();
        } catch (Exception e) {
            System.err.println("BrokerMain: " + e);
        }
    }

    /** Ends at once: threads of a broker that is half started would keep the process alive. */
    private static void fail(int code, String message) {
        System.err.println("BrokerMain: " + message);
        Runtime.getRuntime().halt(code);
    }
}
