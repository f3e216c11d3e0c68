package refstack.disk;

import java.time.Duration;
import org.hibernate.validator.constraints.time.DurationMin;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;
import refstack.core.Bytes;

/**
 * Limits of disk jobs.
 *
 * @param maxJob   most bytes that a job may write
 * @param spare    what a job must leave free on the disk
 * @param patience how long a job waits for another one to end
 * @param fio      the program fio: a name on the path, or a path
 */
@ConfigurationProperties("refstack.disk")
record DiskProperties(
        @DefaultValue("2GB") @Bytes(max = Long.MAX_VALUE) DataSize maxJob,
        @DefaultValue("64MB") @Bytes(min = 0, max = Long.MAX_VALUE) DataSize spare,
        @DefaultValue("10s") @DurationMin Duration patience,
        @DefaultValue("fio") String fio) {
}
