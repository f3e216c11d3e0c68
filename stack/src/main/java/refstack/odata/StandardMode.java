package refstack.odata;

import java.util.Map;
import org.apache.olingo.odata2.api.edm.Edm;
import org.apache.olingo.odata2.api.edm.EdmEntityType;
import org.apache.olingo.odata2.api.rt.RuntimeDelegate;

/**
 * The straight way: the model is built once, and the fields of a flight go to the writer as they
 * are.
 *
 * <p>Once for each thread, to be exact. Olingo's model fills plain hash maps while it is used,
 * so threads must not share it.
 */
class StandardMode implements Mode {

    private final ThreadLocal<Edm> model = ThreadLocal.withInitial(() ->
            RuntimeDelegate.createEdm(new SchemaProvider(FlightModel.schemas())));

    @Override
    public String name() {
        return "standard";
    }

    @Override
    public Edm model() {
        return model.get();
    }

    @Override
    public Map<String, Object> entity(Record value, EdmEntityType type) {
        return EdmValues.of(value);
    }
}
