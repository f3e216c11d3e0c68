package refstack.work;

import java.util.List;

/**
 * A piece of work, as metrics name it.
 *
 * @param label its name
 * @param kind  who waits for it
 */
record Work(String label, Kind kind) {

    static final Work COUNT = dialogue("count");
    static final Work SELECTION = dialogue("selection");
    static final Work SUMMARY = dialogue("summary");
    static final Work ITEMS = dialogue("items");
    static final Work ALL_ITEMS = dialogue("all");
    static final Work GENERATION = new Work("generation", Kind.BACKGROUND);
    static final Work STATISTICS = new Work("statistics", Kind.BACKGROUND);
    static final Work CLOSING = new Work("closing", Kind.BACKGROUND);

    /** All but the pairs. */
    static final List<Work> SINGLE = List.of(COUNT, SELECTION, SUMMARY, ITEMS, ALL_ITEMS,
            GENERATION, STATISTICS, CLOSING);

    static Work dialogue(String label) {
        return new Work(label, Kind.DIALOGUE);
    }
}
