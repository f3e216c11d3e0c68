package refstack;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/** The series that the harness reads. */
class MetricsTest {

    private final TestNode app = TestNode.app();

    @Test
    void liveAndReady() {
        assertThat(app.management("/actuator/health/liveness").status()).isEqualTo(200);
        assertThat(app.management("/actuator/health/readiness").status()).isEqualTo(200);
        assertThat(app.get("/actuator/health").status()).isEqualTo(404);
    }

    /** Tomcat adds a request to its counter after the answer is sent, hence the waiting. */
    @Test
    void connectorCountsExactlyTheRequestsSent() throws InterruptedException {
        List<String> paths = List.of(Paths.REST_LIST, Paths.REST_DETAIL, "/nothing",
                Paths.STANDARD + Paths.KEY, Paths.COMPATIBILITY + Paths.KEY);
        Thread.sleep(200);
        double before = requests();
        for (int i = 0; i < 50; i++) {
            app.get(paths.get(i % paths.size()));
        }
        double expected = before + 50;
        for (int i = 0; i < 40 && requests() < expected; i++) {
            Thread.sleep(50);
        }
        assertThat(requests()).isEqualTo(expected);
    }

    @Test
    void everyProtocolHasRequestTimes() {
        app.get(Paths.REST_LIST);
        app.get(Paths.REST_DETAIL);
        app.get(Paths.STANDARD + Paths.KEY);
        app.get(Paths.COMPATIBILITY + Paths.ODATA_LIST);
        String text = app.metrics();
        for (String uri : List.of("/rest/flights", "/rest/flights/{carrid}/{connid}/{fldate}",
                "/odata/standard/FlightCollection(key)",
                "/odata/compatibility/FlightCollection")) {
            assertThat(text).contains("outcome=\"SUCCESS\",status=\"200\",uri=\"" + uri + "\"");
        }
    }

    @Test
    void theMachineShowsInTheMetrics() {
        String text = app.metrics();
        assertThat(text).contains("jvm_memory_used_bytes", "jvm_gc_memory_allocated_bytes_total",
                "jvm_threads_live_threads", "jvm_compilation_time_ms_total", "Code",
                "process_cpu_time_ns_total", "tomcat_threads_busy_threads", "hikaricp_connections",
                "jvm_buffer_memory_used_bytes", "tomcat_global_error_total", "system_cpu_count",
                "refstack_common_pool_threads");
    }

    private double requests() {
        return app.metric(String.format(Locale.ROOT,
                "tomcat_global_request_seconds_count{name=\"http-nio-127.0.0.1-%d\"}", app.port()));
    }
}
