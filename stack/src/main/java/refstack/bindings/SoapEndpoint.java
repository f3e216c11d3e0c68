package refstack.bindings;

import jakarta.jws.WebService;

/** The receiver behind the SOAP service. */
@WebService(endpointInterface = "refstack.bindings.SoapReceiver",
        targetNamespace = SoapReceiver.NAMESPACE, serviceName = "ReceiverService")
class SoapEndpoint implements SoapReceiver {

    static final String SERVLET = "/bindings-receiver/soap";
    static final String PATH = "/receiver";

    private final Receiver receiver;

    SoapEndpoint(Receiver receiver) {
        this.receiver = receiver;
    }

    @Override
    public SoapReply receive(String id, byte[] body, String work) {
        return new SoapReply(receiver.receive(SoapBinding.WAY,
                new Payload(id, body == null ? new byte[0] : body, Work.of(work))));
    }
}
