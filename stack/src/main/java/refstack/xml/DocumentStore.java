package refstack.xml;

import org.springframework.jdbc.core.JdbcTemplate;

/** The table of transformed documents. */
class DocumentStore {

    private static final String INSERT = "insert into document "
            + "(id, way, rows, total, bytes_in, bytes_out, sha256) values (?, ?, ?, ?, ?, ?, ?) "
            + "on conflict (id) do nothing";

    private final JdbcTemplate database;

    DocumentStore(JdbcTemplate database) {
        this.database = database;
    }

    /** Adds a row; false if the id is known. */
    boolean add(String id, String way, CanonicalResult result, int bytesIn, int bytesOut,
            String sha256) {
        return database.update(INSERT, id, way, result.rows(), result.total(), bytesIn, bytesOut,
                sha256) == 1;
    }
}
