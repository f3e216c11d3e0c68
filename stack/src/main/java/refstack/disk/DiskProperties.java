package refstack.disk;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * Limits of disk jobs.
 *
 * @param maxJob   most bytes that a job may write
 * @param spare    what a job must leave free on the disk
 * @param patience how long a job waits for another one to end
 * @param fio      the program fio: a name on the path, or a path
 */
@ConfigurationProperties("refstack.disk")
record DiskProperties(@DefaultValue("2GB") DataSize maxJob, @DefaultValue("64MB") DataSize spare,
        @DefaultValue("10s") Duration patience, @DefaultValue("fio") String fio) {

    DiskProperties {
        if (maxJob.toBytes() < 1 || spare.isNegative() || patience.isNegative()) {
            throw new IllegalArgumentException("refstack.disk.max-job must be 1 byte or more, "
                    + "refstack.disk.spare and refstack.disk.patience 0 or more");
        }
    }
}
