package refstack.business;

import org.springframework.jdbc.core.JdbcTemplate;

/**
 * How large the business is: things of each kind are numbered from 1 on.
 *
 * @param users     who may sign on
 * @param branches  where they work
 * @param items     what is sold
 * @param customers to whom
 * @param accounts  of each branch: numbered from 1 on, after a hundred times the branch's number
 */
record Size(int users, int branches, int items, int customers, int accounts) {

    /** Reads it from the database. */
    static Size of(JdbcTemplate database) {
        return database.queryForObject("""
                select (select count(*) from business_user),
                  (select count(*) from business_branch),
                  (select count(*) from business_item), (select count(*) from business_customer),
                  (select count(*) from business_account where branch = 1)""",
                (row, number) -> new Size(row.getInt(1), row.getInt(2), row.getInt(3),
                        row.getInt(4), row.getInt(5)));
    }
}
