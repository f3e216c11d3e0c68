package refstack.core;

/** A document is not accepted; over HTTP this is status 413 for a size and 400 for the rest. */
public class RefusedDocumentException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final Reason reason;

    /** Why a document is refused. */
    public enum Reason {

        /** It has more bytes than allowed. */
        SIZE,

        /** It is not well-formed XML. */
        MALFORMED,

        /** It declares a document type, and with it could define entities. */
        DOCTYPE,

        /** Its elements are nested deeper than allowed, or another limit of the parser is hit. */
        DEPTH,

        /** It is XML, but not the document that is expected. */
        CONTENT
    }

    public RefusedDocumentException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    /** Why. */
    public Reason reason() {
        return reason;
    }
}
