package refstack;

/** Paths that several tests ask for. */
final class Paths {

    static final String REST_LIST = "/rest/flights";
    static final String REST_DETAIL = "/rest/flights/AA/0017/2011-06-01";
    static final String KEY =
            "FlightCollection(carrid='AA',connid='0017',fldate=datetime'2011-06-01T00:00:00')";
    static final String SUMMARY = "carrid,connid,fldate,airline,airportFrom,cityFrom,airportTo,"
            + "cityTo,departureTime,arrivalTime,price,currency,changedAt";
    static final String STANDARD = "/odata/standard/";
    static final String COMPATIBILITY = "/odata/compatibility/";
    static final String ODATA_LIST = "FlightCollection?$select=" + SUMMARY;

    private Paths() {
    }
}
