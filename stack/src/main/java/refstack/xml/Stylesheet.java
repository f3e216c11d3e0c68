package refstack.xml;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import javax.xml.XMLConstants;
import javax.xml.transform.ErrorListener;
import javax.xml.transform.Templates;
import javax.xml.transform.Transformer;
import javax.xml.transform.TransformerConfigurationException;
import javax.xml.transform.TransformerException;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.sax.SAXResult;
import javax.xml.transform.sax.SAXSource;
import javax.xml.transform.stream.StreamSource;
import org.xml.sax.ContentHandler;

/** The stylesheet {@code postings.xsl}, compiled once, run by one of two processors. */
class Stylesheet implements Transformation {

    private final String way;
    private final SecureParsers parsers;
    private final Templates templates;

    private Stylesheet(String way, TransformerFactory factory, SecureParsers parsers) {
        this.way = way;
        this.parsers = parsers;
        try (InputStream in = Stylesheet.class.getResourceAsStream("postings.xsl")) {
            factory.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);
            factory.setErrorListener(new Thrower());
            this.templates = factory.newTemplates(new StreamSource(in));
        } catch (TransformerConfigurationException e) {
            throw new IllegalStateException("the stylesheet compiles", e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Run by Saxon. */
    static Stylesheet saxon(SecureParsers parsers) {
        return new Stylesheet("xslt", new net.sf.saxon.TransformerFactoryImpl(), parsers);
    }

    /** Compiled to byte code by the JDK's XSLTC. */
    static Stylesheet jdk(SecureParsers parsers) {
        return new Stylesheet("xslt-jdk", TransformerFactory.newDefaultInstance(), parsers);
    }

    @Override
    public String way() {
        return way;
    }

    @Override
    public void transform(byte[] document, ContentHandler result) {
        SecureParsers.Failures failures = new SecureParsers.Failures();
        try {
            Transformer transformer = templates.newTransformer();
            transformer.setErrorListener(new Thrower());
            transformer.transform(
                    new SAXSource(parsers.reader(failures), SecureParsers.source(document)),
                    new SAXResult(result));
        } catch (TransformerException e) {
            throw SecureParsers.refusal(failures.first() == null ? e : failures.first());
        }
    }

    /** Says nothing on standard error. */
    private static final class Thrower implements ErrorListener {

        @Override
        public void warning(TransformerException warning) {
            // Not worth a document.
        }

        @Override
        public void error(TransformerException error) throws TransformerException {
            throw error;
        }

        @Override
        public void fatalError(TransformerException error) throws TransformerException {
            throw error;
        }
    }
}
