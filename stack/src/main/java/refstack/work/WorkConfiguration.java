package refstack.work;

import io.micrometer.core.instrument.MeterRegistry;
import java.util.List;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import refstack.core.ConditionalOnApp;
import refstack.core.Part;

/** What work is made of, in app nodes that have the part. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnApp(Part.WORK)
class WorkConfiguration {

    @Bean
    LedgerShape ledgerShape() {
        return new LedgerShape();
    }

    @Bean
    Pairs workPairs(LedgerShape shape) {
        return new Pairs(List.of(new AggregatePair(shape), new ViewPair(shape),
                new SubqueryPair(shape), new TablePair(), new ContextPair(shape)));
    }

    @Bean
    WorkPlace workPlace(Pairs pairs, DataSource database, WorkProperties properties,
            MeterRegistry registry) {
        List<Work> works = Stream.concat(Work.SINGLE.stream(), pairs.works().stream()).toList();
        return new WorkPlace(database, properties.fetchRows(), new WorkMetrics(works, registry));
    }
}
