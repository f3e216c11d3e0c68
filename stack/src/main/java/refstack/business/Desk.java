package refstack.business;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/**
 * What a session knows of its user, besides the workspace; never changed, but replaced.
 *
 * @param user   number of the user
 * @param name   name of the user
 * @param branch where the user works
 * @param step   transactions done since signing on
 * @param recent items that the user has looked at, the latest first
 * @param draft  the order in progress, or null
 */
record Desk(int user, String name, int branch, int step, List<Recent> recent, Draft draft)
        implements Serializable {

    private static final int MOST_RECENT = 10;

    /** An item that the user has looked at. */
    record Recent(int item, String name) implements Serializable {
    }

    static Desk of(int user, String name, int branch) {
        return new Desk(user, name, branch, 0, List.of(), null);
    }

    Desk nextStep() {
        return new Desk(user, name, branch, step + 1, recent, draft);
    }

    Desk with(Draft other) {
        return new Desk(user, name, branch, step, recent, other);
    }

    Desk withoutDraft() {
        return with((Draft) null);
    }

    /** With an item as the latest that the user has looked at. */
    Desk with(Recent latest) {
        List<Recent> items = new ArrayList<>(MOST_RECENT);
        items.add(latest);
        recent.stream().filter(known -> known.item() != latest.item())
                .limit(MOST_RECENT - 1L).forEach(items::add);
        return new Desk(user, name, branch, step, List.copyOf(items), draft);
    }

    /** The order in progress; refused if there is none. */
    Draft draftOrRefuse() {
        if (draft == null) {
            throw BusinessException.noDraft();
        }
        return draft;
    }
}
