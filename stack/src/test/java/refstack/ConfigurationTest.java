package refstack;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Nodes that cannot start say why in one line. */
class ConfigurationTest {

    private static final String DATABASE = "--spring.datasource.url=jdbc:postgresql:x";
    private static Process nodes;
    private static BufferedWriter asked;
    private static BufferedReader said;

    @BeforeAll
    static void startJvm() throws IOException {
        nodes = start("refstack.NodesInTurn");
        asked = nodes.outputWriter(StandardCharsets.UTF_8);
        said = nodes.inputReader(StandardCharsets.UTF_8);
    }

    @AfterAll
    static void endJvm() throws IOException {
        asked.close();
    }

    @Test
    void aWrongSettingEndsTheProcess() throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("refstack.RefStack"));
        command.addAll(settings("--refstack.role=nobody"));
        Process process = start(command.toArray(String[]::new));
        String output = new String(process.getInputStream().readAllBytes(),
                StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isEqualTo(1);
        assertThat(output.lines()).hasSize(1);
        assertThat(output).startsWith("refstack: refstack.role is 'nobody'");
    }

    @ParameterizedTest
    @ValueSource(strings = {"spring.threads.virtual.enabled", "refstack.bindings.virtual"})
    @EnabledForJreRange(max = JRE.JAVA_20)
    void virtualThreadsAreRefusedWhereThereAreNone(String name) throws IOException {
        aWrongSettingEndsInOneLine("--" + name + "=true",
                name + " is 'true': it needs Java 21 or later, and this is Java ");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "--refstack.parts=rest,mail | refstack.parts is 'rest,mail': it must list some of [rest,",
        "--refstack.parts=connectors | refstack.backend.url is not set: an app node with part conn",
        "--refstack.parts=connectors --refstack.backend.url=http://x:1 | refstack.backend.rpc is n",
        "--refstack.parts=connectors --refstack.backend.url=http://x:1 --refstack.backend.rpc=x |r",
        "--refstack.connector.pool=0 | refstack.connector.pool is '0': it must be a whole number",
        "--refstack.bindings.rpc-threads=0 | refstack.bindings.rpc-threads is '0': it must be a",
        "--refstack.bindings.shared-threads=-1 | shared-threads is '-1': it must be a whole number",
        "--refstack.pages.chart=1B | refstack.pages.chart is '1B': it must be a size from 32 to 1",
        "--refstack.parts=bindings --refstack.backend.url=http://x:1 | refstack.backend.rpc is not",
        "--refstack.parts=xml --refstack.backend.url=http://x:1 | must be empty: parts xml, pages",
        "--refstack.parts=business --refstack.backend.url=http://x:1 | work and business use the da",
        "--refstack.parts=business --refstack.business.sessions=disk | sessions is 'disk': it must",
        "--refstack.business.sessions-in-memory=5 | sessions-in-memory is for refstack.business.se",
        "--refstack.business.workers=-1 | refstack.business.workers is '-1': it must be a whole nu",
        "--refstack.role=nobody | refstack.role is 'nobody': it must be one of [app, backend]",
        "--refstack.broker.url=localhost:1 | refstack.broker.url is 'localhost:1': it must look",
        "--refstack.broker.embedded.colour=red | unknown broker setting 'colour'",
        "--refstack.backend.url=localhost:1 | refstack.backend.url is 'localhost:1': it must",
        "--spring.datasource.url=jdbc:mysql:x | spring.datasource.url must look like jdbc:postg",
        "--server.tomcat.threads.max=0 | server.tomcat.threads.max is '0': it must be a whole",
        "--refstack.fault.delay=soon | refstack.fault.delay is 'soon': it must be a time such",
        "--refstack.fault.delay=0s | refstack.fault.delay is '0s': it must be 1 ms or more",
        "--refstack.work.fetch-rows=many | refstack.work.fetch-rows is 'many': it must be a whole",
        "--refstack.events.workers=1001 | workers is '1001': it must be a whole number from 0 to 1",
        "--spring.datasource.hikari.maximum-pool-size=0 | maximum-pool-size is '0': it must be a",
        "--refstack.parts=bindings --refstack.backend.url=http://x:1 --refstack.backend.rpc=x | m",
        "--refstack.pages.rows=0 --refstack.pages.count=-1 | refstack.pages.count is '-1': it"})
    void aWrongSettingEndsInOneLine(String setting, String expected) throws IOException {
        asked.write(String.join(" ", settings(setting)));
        asked.newLine();
        asked.flush();
        List<String> lines = new ArrayList<>();
        for (String line = said.readLine(); line != null; line = said.readLine()) {
            lines.add(line);
            if (line.equals(NodesInTurn.REFUSED) || line.equals(NodesInTurn.STARTED)) {
                break;
            }
        }
        assertThat(lines).hasSize(2).last().isEqualTo(NodesInTurn.REFUSED);
        assertThat(lines.get(0)).startsWith("refstack: ").contains(expected);
    }

    private static List<String> settings(String wrong) {
        List<String> all = new ArrayList<>(List.of("--server.port=0", "--management.server.port=0"));
        if (!wrong.contains("datasource.url")) {
            all.add(DATABASE);
        }
        all.addAll(List.of(wrong.split(" ")));
        return all;
    }

    private static Process start(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path")));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }
}
