package refstack.pages;

import java.io.Serializable;
import java.util.List;

/**
 * Rows of a query, as they are kept in a session.
 *
 * @param page which page asked
 * @param part which part of it
 * @param rows each with a value for every column of the query
 */
record Result(int page, int part, List<List<Object>> rows) implements Serializable {
}
