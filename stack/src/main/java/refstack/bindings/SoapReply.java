package refstack.bindings;

import jakarta.xml.bind.annotation.XmlAccessType;
import jakarta.xml.bind.annotation.XmlAccessorType;
import jakarta.xml.bind.annotation.XmlType;

/** A reply as the SOAP library maps it: by its fields. */
@XmlAccessorType(XmlAccessType.FIELD)
@XmlType(name = "Reply", namespace = SoapReceiver.NAMESPACE)
public class SoapReply {

    private String id;
    private long bytes;
    private long checksum;
    private String thread;
    private String pool;
    private String node;

    /** For the SOAP library. */
    public SoapReply() {
    }

    SoapReply(Reply reply) {
        this.id = reply.id();
        this.bytes = reply.bytes();
        this.checksum = reply.checksum();
        this.thread = reply.thread();
        this.pool = reply.pool();
        this.node = reply.node();
    }

    Reply plain() {
        return new Reply(id, bytes, checksum, thread, pool, node);
    }
}
