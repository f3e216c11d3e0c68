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

/** Flights, lists of them and problems as plain XML. */
@Produces(MediaType.APPLICATION_XML)
class XmlWriter implements MessageBodyWriter<Record> {

    @Override
    public boolean isWriteable(Class<?> type, Type genericType, Annotation[] annotations,
            MediaType mediaType) {
        return type == Flight.class || type == FlightList.class || type == Problem.class;
    }

    @Override
    public void writeTo(Record body, Class<?> type, Type genericType, Annotation[] annotations,
            MediaType mediaType, MultivaluedMap<String, Object> headers, OutputStream out)
            throws IOException {
        if (body instanceof FlightList list) {
            out.write(PlainXml.list(list.flights(), Filler.NONE));
        } else if (body instanceof Flight) {
            out.write(PlainXml.element("flight", body, Filler.NONE));
        } else {
            out.write(PlainXml.element("problem", body, Filler.NONE));
        }
    }
}
