package refstack.bindings;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;

/**
 * A call in the process, in the caller's thread, that hands over a copy made by Java's
 * serialisation, as containers do between modules that must not share objects.
 */
record CopyBinding(Receiver receiver) implements Binding {

    @Override
    public String way() {
        return "copy";
    }

    @Override
    public Reply call(Payload payload) {
        return receiver.receive(way(), copy(payload));
    }

    /** Reads only what it has just written itself. */
    static Payload copy(Payload payload) {
        ByteArrayOutputStream written = new ByteArrayOutputStream(payload.body().length + 512);
        try (ObjectOutputStream out = new ObjectOutputStream(written)) {
            out.writeObject(payload);
        } catch (IOException e) {
            throw new IllegalStateException("a payload can be written to memory", e);
        }
        try (ObjectInputStream in = new ObjectInputStream(
                new ByteArrayInputStream(written.toByteArray()))) {
            return (Payload) in.readObject();
        } catch (IOException | ClassNotFoundException e) {
            throw new IllegalStateException("a payload can be read from memory", e);
        }
    }
}
