package refstack.business;

import java.util.regex.Pattern;
import refstack.answers.Refusal;

/**
 * The beginning of a name that is searched for, as a range of names in byte order: unlike a pattern
 * it is found by the index whatever the plan is.
 *
 * @param first the least name with this beginning
 * @param after less than any greater name without it
 */
record Prefix(String first, String after) {

    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9 ]{2,40}");

    static Prefix of(String text) {
        if (!PLAIN.matcher(text).matches()) {
            throw Refusal.malformed("find must be 2 to 40 letters, digits and blanks.");
        }
        int last = text.length() - 1;
        return new Prefix(text, text.substring(0, last) + (char) (text.charAt(last) + 1));
    }
}
