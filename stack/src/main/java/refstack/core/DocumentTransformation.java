package refstack.core;

import java.math.BigDecimal;

/** Transforms documents and leaves one row of each in the database. */
public interface DocumentTransformation {

    /**
     * What became of a document.
     *
     * @param id       the sender's name of it
     * @param way      how it was transformed
     * @param rows     rows of the result
     * @param total    sum of their values
     * @param bytesIn  size of the document
     * @param bytesOut size of the canonical result
     * @param sha256   digest of the canonical result, in hexadecimal
     * @param stored   whether the id was new
     */
    record Receipt(String id, String way, int rows, BigDecimal total, int bytesIn, int bytesOut,
            String sha256, boolean stored) {
    }

    /** Largest document in bytes. */
    int maxBytes();

    /**
     * Transforms and stores a document. One whose id is known is transformed, but not stored again.
     *
     * @param way {@code xslt}, {@code xslt-jdk} or {@code actions}
     * @throws UnknownWayException      for another way
     * @throws RefusedDocumentException if the document is not what it should be
     * @throws IllegalArgumentException if the id is not plain
     */
    Receipt accept(String id, String way, byte[] document);
}
