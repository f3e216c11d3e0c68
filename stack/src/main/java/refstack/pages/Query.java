package refstack.pages;

import java.util.List;

/**
 * The query of a part: read-only, about flights of the user's airline, from the user's day on.
 *
 * @param title   what its display is called
 * @param columns names of its columns
 * @param sql     takes the airline, the day, and the most rows
 */
record Query(String title, List<String> columns, String sql) {

    /** Part n of a page shows the query {@code (page + n) % 5}. */
    static final List<Query> ALL = List.of(
            new Query("Occupancy", List.of("connid", "fldate", "seatsMax", "seatsOccupied"), """
                    select connid, fldate::text, seats_max, seats_occupied from flight
                    where carrid = ? and fldate >= ?::date order by connid, fldate limit ?"""),
            new Query("Prices", List.of("connid", "fldate", "price", "currency"), """
                    select connid, fldate::text, price, currency from flight
                    where carrid = ? and fldate >= ?::date order by price desc, connid, fldate
                    limit ?"""),
            new Query("Revenue by connection",
                    List.of("connid", "cityFrom", "cityTo", "flights", "revenue"), """
                    select f.connid, a.city, b.city, count(*), sum(f.payment_sum)
                    from flight f join connection c using (carrid, connid)
                    join airport a on a.code = c.airport_from
                    join airport b on b.code = c.airport_to
                    where f.carrid = ? and f.fldate >= ?::date
                    group by f.connid, a.city, b.city order by f.connid limit ?"""),
            new Query("Planes", List.of("plane", "flights", "meanOccupancy"), """
                    select p.name, count(*), round(avg(100.0 * f.seats_occupied / f.seats_max), 1)
                    from flight f join plane p using (plane_type)
                    where f.carrid = ? and f.fldate >= ?::date
                    group by p.name order by p.name limit ?"""),
            new Query("Departures", List.of("fldate", "connid", "airport", "departureTime"), """
                    select f.fldate::text, f.connid, c.airport_from, c.departure_time::text
                    from flight f join connection c using (carrid, connid)
                    where f.carrid = ? and f.fldate >= ?::date
                    order by f.fldate, c.departure_time, f.connid limit ?"""));

    /** The query of a part of a page. */
    static Query of(int page, int part) {
        return ALL.get((page + part) % ALL.size());
    }
}
