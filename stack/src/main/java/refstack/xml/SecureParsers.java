package refstack.xml;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import javax.xml.XMLConstants;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import javax.xml.parsers.SAXParserFactory;
import org.w3c.dom.Document;
import org.xml.sax.ErrorHandler;
import org.xml.sax.InputSource;
import org.xml.sax.SAXException;
import org.xml.sax.SAXParseException;
import org.xml.sax.XMLReader;
import refstack.core.RefusedDocumentException;
import refstack.core.RefusedDocumentException.Reason;

/**
 * The JDK's parsers for documents of strangers: no document type, hence no entities and nothing
 * fetched, and a limit of depth. Safe for use by many threads.
 */
class SecureParsers {

    private static final String NO_DOCTYPE =
            "http://apache.org/xml/features/disallow-doctype-decl";
    private static final String DEPTH =
            "http://www.oracle.com/xml/jaxp/properties/maxElementDepth";
    /** Begins every message about a limit of the JDK's parsers, in every language. */
    private static final String LIMIT = "JAXP0001";

    private final SAXParserFactory saxParsers = SAXParserFactory.newDefaultInstance();
    private final DocumentBuilderFactory builders = DocumentBuilderFactory.newDefaultInstance();
    private final int maxDepth;

    SecureParsers(int maxDepth) {
        this.maxDepth = maxDepth;
        try {
            saxParsers.setNamespaceAware(true);
            saxParsers.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);
            saxParsers.setFeature(NO_DOCTYPE, true);
            builders.setNamespaceAware(true);
            builders.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);
            builders.setFeature(NO_DOCTYPE, true);
            builders.setAttribute(DEPTH, Integer.toString(maxDepth));
        } catch (ParserConfigurationException | SAXException e) {
            throw new IllegalStateException("the JDK's parsers know these features", e);
        }
    }

    /**
     * A reader for one document, which tells what it fails with; whoever reads with it cannot
     * change whom it tells, as the JDK's stylesheets do.
     */
    synchronized XMLReader reader(ErrorHandler failures) {
        try {
            var parser = saxParsers.newSAXParser();
            parser.setProperty(DEPTH, Integer.toString(maxDepth));
            XMLReader reader = parser.getXMLReader();
            reader.setErrorHandler(failures);
            return (XMLReader) Proxy.newProxyInstance(XMLReader.class.getClassLoader(),
                    new Class<?>[]{XMLReader.class}, (proxy, method, arguments) ->
                            method.getName().equals("setErrorHandler") ? null
                                    : invoke(reader, method, arguments));
        } catch (ParserConfigurationException | SAXException e) {
            throw new IllegalStateException("the JDK has a SAX parser", e);
        }
    }

    private static Object invoke(XMLReader reader, Method method, Object[] arguments)
            throws Throwable {
        try {
            return method.invoke(reader, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    /** The document as a tree. */
    Document tree(byte[] document) {
        try {
            DocumentBuilder builder = builder();
            builder.setErrorHandler(new Failures());
            return builder.parse(new ByteArrayInputStream(document));
        } catch (SAXException | IOException e) {
            throw refusal(e);
        }
    }

    /** A tree without anything in it. */
    Document emptyTree() {
        return builder().newDocument();
    }

    private synchronized DocumentBuilder builder() {
        try {
            return builders.newDocumentBuilder();
        } catch (ParserConfigurationException e) {
            throw new IllegalStateException("the JDK has a DOM parser", e);
        }
    }

    /** The document as something to be read. */
    static InputSource source(byte[] document) {
        return new InputSource(new ByteArrayInputStream(document));
    }

    /** What a failure of a parser, or of what calls it, means for the sender. */
    static RefusedDocumentException refusal(Throwable failure) {
        boolean isParsing = failure instanceof IOException;
        int line = 0;
        for (Throwable cause = failure; cause != null; cause = next(cause)) {
            if (cause instanceof RefusedDocumentException refused) {
                return refused;
            }
            isParsing |= cause instanceof SAXException;
            if (cause instanceof SAXParseException where) {
                line = where.getLineNumber();
            }
            String message = String.valueOf(cause.getMessage());
            if (message.contains("DOCTYPE")) {
                return new RefusedDocumentException(Reason.DOCTYPE,
                        "The document must not declare a document type.");
            }
            if (message.contains(LIMIT)) {
                return new RefusedDocumentException(Reason.DEPTH,
                        "The document is nested deeper, or larger otherwise, than allowed.");
            }
        }
        if (!isParsing) {
            return new RefusedDocumentException(Reason.CONTENT,
                    "The document is XML, but not the list of orders that is expected.");
        }
        String where = line > 0 ? " (line " + line + ")" : "";
        return new RefusedDocumentException(Reason.MALFORMED,
                "The document is not well-formed XML" + where + ".");
    }

    /** A SAX exception's inner one is its cause; older ones keep it apart. */
    private static Throwable next(Throwable failure) {
        if (failure instanceof SAXException wrapped && wrapped.getException() != null) {
            return wrapped.getException();
        }
        return failure.getCause() == failure ? null : failure.getCause();
    }

    /** Throws what is told, and keeps it: the JDK's stylesheets pass on its message alone. */
    static final class Failures implements ErrorHandler {

        private SAXException first;

        /** The first failure, or nothing. */
        SAXException first() {
            return first;
        }

        @Override
        public void warning(SAXParseException warning) {
            // Not worth a document.
        }

        @Override
        public void error(SAXParseException error) throws SAXException {
            fatalError(error);
        }

        @Override
        public void fatalError(SAXParseException error) throws SAXException {
            if (first == null) {
                first = error;
            }
            throw error;
        }
    }
}
