package refstack;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.springframework.context.ConfigurableApplicationContext;

/** A node in this JVM on free ports, and a client for it. */
final class TestNode implements AutoCloseable {

    private static final HttpClient CLIENT = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1).build();
    private static TestNode shared;

    private static final String PORT = "--server.port=";

    private final int port;
    private final int managementPort = freePort();
    private final ConfigurableApplicationContext context;

    private TestNode(String... settings) {
        List<String> arguments = new ArrayList<>(List.of(settings));
        port = arguments.stream().filter(setting -> setting.startsWith(PORT))
                .mapToInt(setting -> Integer.parseInt(setting.substring(PORT.length())))
                .findFirst().orElseGet(TestNode::freePort);
        arguments.removeIf(setting -> setting.startsWith(PORT));
        arguments.add(PORT + port);
        arguments.add("--management.server.port=" + managementPort);
        context = RefStack.application().run(arguments.toArray(String[]::new));
    }

    /** The app node with a local back end that most tests share. */
    static synchronized TestNode app() {
        if (shared == null) {
            shared = withDatabase();
        }
        return shared;
    }

    /** A node with the database and these settings. */
    static TestNode withDatabase(String... settings) {
        return withDatabaseAt(TestDatabase.url(), settings);
    }

    /** A node with another database and these settings. */
    static TestNode withDatabaseAt(String url, String... settings) {
        List<String> all = new ArrayList<>(List.of(settings));
        all.add("--spring.datasource.url=" + url);
        all.add("--spring.datasource.username=postgres");
        all.add("--spring.datasource.hikari.maximum-pool-size=4");
        return new TestNode(all.toArray(String[]::new));
    }

    /** A node that has no database, with these settings. */
    static TestNode withoutDatabase(String... settings) {
        return new TestNode(settings);
    }

    String root() {
        return "http://127.0.0.1:" + port;
    }

    int port() {
        return port;
    }

    Answer get(String path, String... headers) {
        return send("GET", root() + path, headers);
    }

    Answer management(String path) {
        return send("GET", "http://127.0.0.1:" + managementPort + path);
    }

    /** The metrics as text. */
    String metrics() {
        return management("/actuator/prometheus").body();
    }

    /** A series of the metrics, its labels as they are written there; fails if it is not there. */
    double metric(String series) {
        return find(series).orElseThrow(() -> new AssertionError(series));
    }

    /** The same, or 0 if it is not there yet. */
    double metricOrZero(String series) {
        return find(series).orElse(0);
    }

    private OptionalDouble find(String series) {
        return metrics().lines().filter(line -> line.startsWith(series + " "))
                .mapToDouble(line -> Double.parseDouble(line.substring(series.length() + 1)))
                .findFirst();
    }

    /** Posts nothing. */
    Answer post(String path, String... headers) {
        return post(path, new byte[0], headers);
    }

    /** Posts nothing several times at once. */
    List<Answer> postAtOnce(List<String> paths) throws Exception {
        ExecutorService clients = Executors.newFixedThreadPool(paths.size());
        try {
            List<Answer> answers = new ArrayList<>();
            for (Future<Answer> answer : clients.invokeAll(paths.stream()
                    .<Callable<Answer>>map(path -> () -> post(path)).toList())) {
                answers.add(answer.get());
            }
            return answers;
        } finally {
            clients.shutdown();
        }
    }

    Answer post(String path, byte[] body, String... headers) {
        return send("POST", root() + path, HttpRequest.BodyPublishers.ofByteArray(body), headers);
    }

    Answer send(String method, String url, String... headers) {
        return send(method, url, HttpRequest.BodyPublishers.noBody(), headers);
    }

    private Answer send(String method, String url, HttpRequest.BodyPublisher body,
            String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url)).method(method, body);
        if (headers.length > 0) {
            request.headers(headers);
        }
        try {
            return new Answer(CLIENT.send(request.build(),
                    HttpResponse.BodyHandlers.ofByteArray()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        context.close();
    }

    static int freePort() {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What came back. */
    record Answer(HttpResponse<byte[]> response) {

        int status() {
            return response.statusCode();
        }

        String body() {
            return new String(response.body(), StandardCharsets.UTF_8);
        }

        int bytes() {
            return response.body().length;
        }

        String header(String name) {
            return response.headers().firstValue(name).orElse(null);
        }

        /** A field of a JSON body, as it is written there. */
        String field(String name) {
            Matcher value = Pattern.compile("\"" + name + "\":(\"[^\"]*\"|[^,}]*)").matcher(body());
            if (!value.find()) {
                throw new AssertionError(name + " in " + body());
            }
            return value.group(1);
        }

        String type() {
            return header("Content-Type");
        }
    }
}
