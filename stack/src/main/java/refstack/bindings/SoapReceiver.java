package refstack.bindings;

import jakarta.jws.WebMethod;
import jakarta.jws.WebParam;
import jakarta.jws.WebResult;
import jakarta.jws.WebService;

/** The receiver as a SOAP service; public, as the SOAP library asks for it. */
@WebService(name = "Receiver", targetNamespace = SoapReceiver.NAMESPACE)
public interface SoapReceiver {

    /** Namespace of the service. */
    String NAMESPACE = "urn:refstack:bindings";

    /** Takes a payload, does the work that is asked for, and tells who took it. */
    @WebMethod
    @WebResult(name = "reply")
    SoapReply receive(@WebParam(name = "id") String id, @WebParam(name = "body") byte[] body,
            @WebParam(name = "work") String work);
}
