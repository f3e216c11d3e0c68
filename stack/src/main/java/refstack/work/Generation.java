package refstack.work;

import java.io.StringReader;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import javax.xml.XMLConstants;
import javax.xml.transform.Templates;
import javax.xml.transform.TransformerException;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.stream.StreamResult;
import javax.xml.transform.stream.StreamSource;

/**
 * The job that generates programs: makes the source of each, compiles it to byte code, loads the
 * class and runs it once. The compiler is XSLTC, which is in every Java runtime where javac is not:
 * it reads, parses, checks types, and writes class files. Nothing but CPU and memory has a part.
 */
final class Generation {

    record Generated(int programs, long seed, long sourceBytes, String checksum) {
    }

    private Generation() {
    }

    /**
     * Generates so many programs, drawn from the seed and those that follow it.
     *
     * @throws IllegalStateException if a program does not compute what it should
     */
    static Generated run(int programs, long seed) {
        String document = Program.document();
        CRC32C checksum = new CRC32C();
        long bytes = 0;
        for (int i = 0; i < programs; i++) {
            Program program = Program.of(seed + i);
            String source = program.source();
            bytes += source.length();
            long result = run(compiled(source), document);
            if (result != program.expected()) {
                throw new IllegalStateException("program " + (seed + i) + " gives " + result
                        + " and should give " + program.expected());
            }
            checksum.update(ByteBuffer.allocate(Long.BYTES).putLong(0, result));
        }
        return new Generated(programs, seed, bytes, "%08x".formatted(checksum.getValue()));
    }

    private static Templates compiled(String source) {
        try {
            TransformerFactory factory = TransformerFactory.newDefaultInstance();
            factory.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);
            return factory.newTemplates(new StreamSource(new StringReader(source)));
        } catch (TransformerException e) {
            throw new IllegalStateException("a generated program compiles", e);
        }
    }

    private static long run(Templates program, String document) {
        try {
            StringWriter result = new StringWriter();
            program.newTransformer().transform(new StreamSource(new StringReader(document)),
                    new StreamResult(result));
            return Long.parseLong(result.toString());
        } catch (TransformerException e) {
            throw new IllegalStateException("a generated program runs", e);
        }
    }
}
