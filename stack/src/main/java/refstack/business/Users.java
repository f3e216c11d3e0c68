package refstack.business;

import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;

/** Who may sign on. */
class Users {

    private final JdbcTemplate database;

    Users(JdbcTemplate database) {
        this.database = database;
    }

    /** A tidy desk for a user. */
    Desk desk(int user) {
        List<Desk> found = database.query(
                "select name, branch from business_user where number = ?",
                (row, number) -> Desk.of(user, row.getString(1), row.getInt(2)), user);
        if (found.isEmpty()) {
            throw BusinessException.unknown("user", user);
        }
        return found.get(0);
    }
}
