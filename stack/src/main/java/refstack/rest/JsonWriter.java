package refstack.rest;

import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.MultivaluedMap;
import jakarta.ws.rs.ext.MessageBodyWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.annotation.Annotation;
import java.lang.reflect.Type;
import refstack.core.Flight;
import tools.jackson.databind.json.JsonMapper;

/** Flights, lists of them and problems as plain JSON: objects with the fields' names. */
@Produces(MediaType.APPLICATION_JSON)
class JsonWriter implements MessageBodyWriter<Record> {

    private final JsonMapper json;

    JsonWriter(JsonMapper json) {
        this.json = json;
    }

    @Override
    public boolean isWriteable(Class<?> type, Type genericType, Annotation[] annotations,
            MediaType mediaType) {
        return type == Flight.class || type == FlightList.class || type == Problem.class;
    }

    @Override
    public void writeTo(Record body, Class<?> type, Type genericType, Annotation[] annotations,
            MediaType mediaType, MultivaluedMap<String, Object> headers, OutputStream out)
            throws IOException {
        Object value = body instanceof FlightList list ? list.flights() : body;
        out.write(json.writeValueAsBytes(value));
    }
}
