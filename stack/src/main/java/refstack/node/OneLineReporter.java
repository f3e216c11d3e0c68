package refstack.node;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalysisReporter;

/**
 * Prints why a node cannot start as one line to standard error, for the harness to show. Replaces
 * Spring Boot's framed report, whose logger is off in {@code application.properties}.
 */
class OneLineReporter implements FailureAnalysisReporter {

    @Override
    public void report(FailureAnalysis analysis) {
        System.err.println("refstack: " + analysis.getDescription().strip()
                .replaceAll("\\s*\\R\\s*", " "));
    }
}
