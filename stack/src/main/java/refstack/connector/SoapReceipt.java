package refstack.connector;

import jakarta.xml.bind.annotation.XmlAccessType;
import jakarta.xml.bind.annotation.XmlAccessorType;
import jakarta.xml.bind.annotation.XmlType;

/** A receipt as the SOAP library maps it: by its fields. */
@XmlAccessorType(XmlAccessType.FIELD)
@XmlType(name = "Receipt", namespace = SoapBackEnd.NAMESPACE)
public class SoapReceipt {

    private String id;
    private long bytes;
    private boolean stored;

    /** For the SOAP library. */
    public SoapReceipt() {
    }

    SoapReceipt(StoredReceipt receipt) {
        this.id = receipt.id();
        this.bytes = receipt.bytes();
        this.stored = receipt.stored();
    }

    StoredReceipt plain() {
        return new StoredReceipt(id, bytes, stored);
    }
}
