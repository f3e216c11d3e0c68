package refstack.business;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import org.springframework.session.Session;
import org.springframework.session.SessionRepository;

/**
 * Sessions in the database, some of them in the node's memory besides. Every change is in the
 * database before the answer leaves; a session in memory saves the reading of it alone.
 *
 * <p>A request has its session for itself: it takes it out of memory, and puts it back when it is
 * saved. A second request of the same session meanwhile reads it from the database. Memory is
 * trusted: a session that was changed by another node and comes back here while it is still in
 * memory is seen as it was. A balancer that keeps sessions on their node sees to it that this
 * takes two failures.
 *
 * @param <S> what the database's repository makes of a session
 */
final class SharedSessions<S extends Session> implements SessionRepository<S> {

    private final SessionRepository<S> database;
    private final SessionCounts counts;
    private final Cache<String, S> memory;

    /** The cache drops what is too much some time later; where none may be kept, none goes in. */
    private volatile boolean keeps;

    /**
     * Makes the repository.
     *
     * @param most sessions to keep in memory; 0 = none
     */
    SharedSessions(SessionRepository<S> database, SessionsInMemory most, SessionCounts counts) {
        this.database = database;
        this.counts = counts;
        this.keeps = most.value() > 0;
        this.memory = Caffeine.newBuilder().maximumSize(most.value()).executor(Runnable::run)
                .build();
        most.tell(this::resize);
        counts.inMemory(memory::estimatedSize);
    }

    /** Begins anew with an empty memory: what was kept under another limit says nothing of this. */
    private void resize(long most) {
        keeps = most > 0;
        memory.invalidateAll();
        memory.policy().eviction().orElseThrow().setMaximum(most);
    }

    @Override
    public S createSession() {
        return database.createSession();
    }

    @Override
    public S findById(String id) {
        S known = memory.asMap().remove(id);
        if (known != null && !known.isExpired()) {
            return known;
        }
        S found = database.findById(id);
        if (found != null) {
            counts.restored();
        }
        return found;
    }

    @Override
    public void save(S session) {
        database.save(session);
        if (keeps) {
            memory.put(session.getId(), session);
        }
    }

    @Override
    public void deleteById(String id) {
        memory.invalidate(id);
        database.deleteById(id);
    }
}
