package refstack.connector;

import jakarta.jws.WebMethod;
import jakarta.jws.WebParam;
import jakarta.jws.WebResult;
import jakarta.jws.WebService;

/** The back end's service as SOAP; public, as the SOAP library asks for it. */
@WebService(name = "BackEnd", targetNamespace = SoapBackEnd.NAMESPACE)
public interface SoapBackEnd {

    /** Namespace of the service. */
    String NAMESPACE = "urn:refstack:back-end";

    /** Stores a message; answers its id, the bytes received, and whether the id was new. */
    @WebMethod
    @WebResult(name = "receipt")
    SoapReceipt process(@WebParam(name = "id") String id, @WebParam(name = "body") byte[] body);
}
