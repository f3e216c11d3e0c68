package refstack.odata;

import java.util.Map;
import org.apache.olingo.odata2.api.edm.Edm;
import org.apache.olingo.odata2.api.edm.EdmEntityType;
import org.apache.olingo.odata2.api.exception.ODataException;

/** How a service does its work. The documents are the same in every mode. */
interface Mode {

    /** The name of the mode in URLs and metrics. */
    String name();

    /** The model for one request. */
    Edm model() throws ODataException;

    /** The properties of one entity, ready for Olingo's writers. */
    Map<String, Object> entity(Record value, EdmEntityType type) throws ODataException;

    /** Where the services of this mode are. */
    default String path() {
        return "/odata/" + name();
    }
}
