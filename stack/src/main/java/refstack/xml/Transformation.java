package refstack.xml;

import org.xml.sax.ContentHandler;
import refstack.core.RefusedDocumentException;

/** One way from a list of production orders to a list of postings. */
interface Transformation {

    /** Name of the way, as in the path of a request. */
    String way();

    /**
     * Transforms a document; the result is told to the handler, which may refuse it.
     *
     * @throws RefusedDocumentException if the document is not accepted
     */
    void transform(byte[] document, ContentHandler result);
}
