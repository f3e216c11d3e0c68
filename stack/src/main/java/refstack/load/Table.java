package refstack.load;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Rows for one table in the text format of PostgreSQL's COPY.
 *
 * @param name    the table
 * @param columns its columns in the order of the values
 * @param rows    a line of tab-separated values each, {@code \N} for none; no value may hold a tab or
 *                a backslash
 */
record Table(String name, List<String> columns, List<String> rows) {

    static Table of(String name, String columns, List<String> rows) {
        return new Table(name, List.of(columns.split(" ")), rows);
    }

    /** A row out of values, as COPY reads it. */
    static String row(Object... values) {
        return Arrays.stream(values).map(String::valueOf).collect(Collectors.joining("\t"));
    }

    String copyStatement() {
        return "copy " + name + " (" + String.join(", ", columns) + ") from stdin";
    }

    String copyData() {
        return String.join("\n", rows) + "\n";
    }
}
