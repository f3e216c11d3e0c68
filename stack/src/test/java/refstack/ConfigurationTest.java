package refstack;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Nodes that cannot start say why in one line, as processes of their own. */
class ConfigurationTest {

    private static final String DATABASE = "--spring.datasource.url=jdbc:postgresql:x";

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "--refstack.role=nobody | refstack.role is 'nobody': it must be one of [app, backend]",
        "--refstack.backend.url=localhost:1 | refstack.backend.url is 'localhost:1': it must",
        "--spring.datasource.url=jdbc:mysql:x | spring.datasource.url must look like jdbc:postg",
        "--server.tomcat.threads.max=0 | server.tomcat.threads.max is '0': it must be a whole",
        "--refstack.fault.delay=soon | refstack.fault.delay"})
    void aWrongSettingEndsInOneLine(String setting, String expected)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"),
                "refstack.RefStack", "--server.port=0", "--management.server.port=0"));
        if (!setting.contains("datasource")) {
            command.add(DATABASE);
        }
        command.add(setting);
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(),
                StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isEqualTo(1);
        assertThat(output.lines()).hasSize(1);
        assertThat(output).startsWith("refstack: ").contains(expected);
    }
}
