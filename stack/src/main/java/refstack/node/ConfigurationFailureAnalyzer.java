package refstack.node;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Makes a wrong setting a message instead of a stack trace. */
class ConfigurationFailureAnalyzer extends AbstractFailureAnalyzer<ConfigurationException> {

    @Override
    protected FailureAnalysis analyze(Throwable failure, ConfigurationException cause) {
        return new FailureAnalysis(cause.getMessage(), null, cause);
    }
}
