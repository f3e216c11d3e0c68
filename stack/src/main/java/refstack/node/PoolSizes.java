package refstack.node;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.concurrent.ForkJoinPool;
import org.springframework.stereotype.Component;

/**
 * Tells what was sized by the number of CPUs when the node started, and does not follow it: the
 * pool that parallel streams and asynchronous stages share. The number itself, as the JVM sees it
 * at the moment, is {@code system_cpu_count}.
 */
@Component
class PoolSizes implements MeterBinder {

    @Override
    public void bindTo(MeterRegistry registry) {
        Gauge.builder("refstack.common.pool.threads", ForkJoinPool::getCommonPoolParallelism)
                .register(registry);
    }
}
