package refstack.core;

import java.util.function.BiConsumer;

/**
 * How a protocol tells the metrics which operation a request is: as the value of the request
 * attribute {@link #ATTRIBUTE}, a path pattern with few values such as
 * {@code /rest/flights/{carrid}/{connid}/{fldate}}.
 */
public final class Operation {

    /** Name of the request attribute. */
    public static final String ATTRIBUTE = "refstack.operation";

    private Operation() {
    }

    /** Names the operation of a request, given the request's {@code setAttribute}. */
    public static void name(BiConsumer<String, Object> setAttribute, String pattern) {
        setAttribute.accept(ATTRIBUTE, pattern);
    }
}
