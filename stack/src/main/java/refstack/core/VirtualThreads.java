package refstack.core;

import java.lang.reflect.InvocationTargetException;
import java.util.concurrent.ThreadFactory;

/**
 * Virtual threads (JEP 444, Java 21 and later), called by reflection: this code is compiled for
 * Java 17.
 */
public final class VirtualThreads {

    /** The first Java release that has them. */
    public static final int FIRST_RELEASE = 21;

    private VirtualThreads() {
    }

    /** Whether this JVM has them. */
    public static boolean isSupported() {
        return Runtime.version().feature() >= FIRST_RELEASE;
    }

    /**
     * Makes virtual threads that are named by a prefix and a number from 1.
     *
     * @throws UnsupportedOperationException if this JVM has none
     */
    public static ThreadFactory factory(String prefix) {
        if (!isSupported()) {
            throw new UnsupportedOperationException("virtual threads need Java " + FIRST_RELEASE);
        }
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            builder = Class.forName("java.lang.Thread$Builder$OfVirtual")
                    .getMethod("name", String.class, long.class).invoke(builder, prefix, 1L);
            return (ThreadFactory) Class.forName("java.lang.Thread$Builder")
                    .getMethod("factory").invoke(builder);
        } catch (ClassNotFoundException | NoSuchMethodException | IllegalAccessException
                | InvocationTargetException e) {
            throw new IllegalStateException("Java " + Runtime.version()
                    + " has no virtual threads as they are specified", e);
        }
    }
}
