package refstack;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The broker as a process of its own, ended in good order and by force. */
class BrokerProcessTest {

    @TempDir
    private Path folder;

    private final int port = TestNode.freePort();
    private final int managementPort = TestNode.freePort();

    @Test
    void acknowledgedMessagesSurviveAKilledBrokerAndArriveOnce() throws Exception {
        QueueDatabase database = new QueueDatabase("broker_process");
        Process broker = start();
        ConcurrentLinkedQueue<String> acknowledged = new ConcurrentLinkedQueue<>();
        AtomicBoolean isOver = new AtomicBoolean();
        try (TestNode node = database.node("messaging", folder.resolve("node"),
                "--refstack.broker.url=tcp://127.0.0.1:" + port,
                "--refstack.broker.retry-delay=50ms")) {
            List<Thread> senders = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                String name = "s" + i + "-";
                senders.add(new Thread(() -> send(node, name, acknowledged, isOver)));
            }
            senders.forEach(Thread::start);
            for (int kills = 1; kills <= 2; kills++) {
                int before = acknowledged.size();
                QueueDatabase.await("messages", () -> acknowledged.size() > before + 100);
                broker.destroyForcibly().waitFor();
                broker = start();
            }
            int before = acknowledged.size();
            QueueDatabase.await("messages after it", () -> acknowledged.size() > before + 100);
            isOver.set(true);
            for (Thread sender : senders) {
                sender.join();
            }
            QueueDatabase.await("an empty queue",
                    () -> node.get("/messaging/state").body().contains("\"depth\":0"));
            assertThat(node.management("/actuator/health/readiness").status()).isEqualTo(200);
            long rows = database.number("select count(*) from messaging_row");
            assertThat(acknowledged).doesNotHaveDuplicates();
            assertThat(rows).isEqualTo(acknowledged.size());
            assertThat(database.number("select count(*) from messaging_row where id in ('"
                    + String.join("','", acknowledged) + "')")).isEqualTo(rows);

            broker.destroyForcibly().waitFor();
            assertThat(node.post("/messaging/messages?id=nobody", new byte[1]).status())
                    .isEqualTo(503);
            assertThat(node.get("/messaging/state").status()).isEqualTo(503);
            assertThat(node.management("/actuator/health/readiness").status()).isEqualTo(503);
        } finally {
            isOver.set(true);
            broker.destroyForcibly().waitFor();
        }
    }

    /** Sends one message after the other, each until it is acknowledged. */
    private static void send(TestNode node, String name, ConcurrentLinkedQueue<String> acknowledged,
            AtomicBoolean isOver) {
        for (int i = 0; !isOver.get(); i++) {
            String id = name + i;
            while (node.post("/messaging/messages?id=" + id, new byte[200]).status() != 200) {
                Thread.onSpinWait();
            }
            acknowledged.add(id);
        }
    }

    @Test
    void itsPageHasTheNamesOfTheNodesAndItStopsInGoodOrder() throws Exception {
        Process broker = start("--queues", "work,other");
        try {
            String metrics = page("/actuator/prometheus");
            assertThat(metrics).contains("refstack_broker_queue_depth{queue=\"other\"} 0.0",
                    "refstack_broker_queue_depth{queue=\"dead\"} 0.0",
                    "refstack_broker_journal_syncs_total", "jvm_memory_used_bytes",
                    "jvm_threads_live_threads", "process_cpu_time_ns_total",
                    "refstack_broker_journal_sync_seconds_total", "refstack_broker_memory_bytes");
            String some = page("/actuator/prometheus?includedNames="
                    + "refstack_broker_queue_depth,jvm_memory_used_bytes");
            assertThat(some).contains("refstack_broker_queue_depth", "jvm_memory_used_bytes")
                    .doesNotContain("process_cpu");
            assertThat(page("/actuator/health/readiness")).isEqualTo("{\"status\":\"UP\"}");
            broker.destroy();
            assertThat(broker.waitFor(30, TimeUnit.SECONDS)).isTrue();
            assertThat(broker.exitValue()).isEqualTo(143);
            String log = Files.readString(folder.resolve("broker.log"));
            assertThat(log.lines()).hasSize(1);
            assertThat(log).startsWith("ready role=broker port=" + port);
        } finally {
            broker.destroyForcibly();
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "--colour red | unknown broker setting 'colour'",
        "--journal-type paper | journal-type is 'paper': it must be one of [nio, asyncio]",
        "--queue-max-bytes much | queue-max-bytes is 'much': it must be a whole number from -1",
        "--queues dead | queues is 'dead': it must list names",
        "--address 1:2 --port 1 --data x | --address must be an address, not '1:2'",
        "--port 99999 | --port must be a port, not '99999'",
        "--queues | settings are given as --name value, not '--queues'"})
    void aWrongSettingEndsInOneLine(String settings, String expected) throws Exception {
        Process process = process(settings.split(" "));
        assertThat(process.waitFor()).isEqualTo(2);
        String log = Files.readString(folder.resolve("broker.log"));
        assertThat(log.lines()).hasSize(1);
        assertThat(log).startsWith("BrokerMain: ").contains(expected);
    }

    @Test
    void aPortThatIsTakenEndsInOneLine() throws Exception {
        try (java.net.ServerSocket taken = new java.net.ServerSocket(port)) {
            Process process = process();
            assertThat(process.waitFor()).isEqualTo(1);
            assertThat(Files.readString(folder.resolve("broker.log")))
                    .contains("BrokerMain: ").doesNotContain("\tat ");
            assertThat(taken.isBound()).isTrue();
        }
    }

    private Process start(String... settings) throws IOException {
        Process process = process(settings);
        QueueDatabase.await("a ready broker", () -> {
            assertThat(process.isAlive()).isTrue();
            try {
                return page("/actuator/health/readiness").contains("UP");
            } catch (IOException e) {
                return false;
            }
        });
        return process;
    }

    private Process process(String... settings) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx128m",
                "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"),
                "refstack.broker.BrokerMain", "--port", Integer.toString(port),
                "--management-port", Integer.toString(managementPort),
                "--data", folder.resolve("broker").toString()));
        command.addAll(List.of(settings));
        return new ProcessBuilder(command).redirectErrorStream(true)
                .redirectOutput(folder.resolve("broker.log").toFile()).start();
    }

    private String page(String path) throws IOException {
        try {
            return HttpClient.newHttpClient().send(
                    HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + managementPort + path))
                            .build(),
                    HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8)).body();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
