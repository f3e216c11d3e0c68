package refstack.rest;

import java.util.List;
import refstack.core.FlightSummary;

/** A list that keeps its type where Java would forget it: writers are chosen by class. */
record FlightList(List<FlightSummary> flights) {
}
