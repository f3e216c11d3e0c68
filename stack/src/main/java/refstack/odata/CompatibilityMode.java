package refstack.odata;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import org.apache.olingo.odata2.api.edm.Edm;
import org.apache.olingo.odata2.api.edm.EdmEntityType;
import org.apache.olingo.odata2.api.edm.provider.DataServices;
import org.apache.olingo.odata2.api.ep.EntityProvider;
import org.apache.olingo.odata2.api.exception.ODataException;
import org.apache.olingo.odata2.api.processor.ODataResponse;

/**
 * The detours of a compatibility layer, which puts a generic runtime between an old programming
 * model and the protocol. For each request, whatever it asks for:
 *
 * <ol>
 *   <li>the model is built out of its definition, written as a {@code $metadata} document in
 *       memory, and that document is parsed into the model that this request uses; nothing of it
 *       is kept for the next request;
 *   <li>each entity is written as a generic XML document in memory, one row of name, type and
 *       value for each property and every value as text ({@link GenericDocument}); that document
 *       is parsed into a DOM tree, and each row is converted to its type by the model.
 * </ol>
 *
 * <p>Only then is the answer written, as in {@link StandardMode}. It does no more than this: no
 * sleeping, no extra calls of the back end, no lock.
 */
class CompatibilityMode implements Mode {

    @Override
    public String name() {
        return "compatibility";
    }

    @Override
    public Edm model() throws ODataException {
        DataServices definition = new DataServices().setSchemas(FlightModel.schemas())
                .setDataServiceVersion("2.0");
        ODataResponse metadata = EntityProvider.writeMetadata(definition, null);
        try (InputStream document = (InputStream) metadata.getEntity()) {
            return EntityProvider.readMetadata(document, true);
        } catch (IOException e) {
            throw new IllegalStateException("cannot read from memory", e);
        }
    }

    @Override
    public Map<String, Object> entity(Record value, EdmEntityType type) throws ODataException {
        byte[] document = GenericDocument.write(value, type);
        List<GenericDocument.Row> rows = GenericDocument.read(document);
        return EdmValues.of(rows, type);
    }
}
