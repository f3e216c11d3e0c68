package refstack.business;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpSession;
import java.time.Duration;

/** Finds the desk and the workspace of a request's session, wherever sessions live. */
class Desks {

    /** Name of the cookie that knows the session. */
    static final String COOKIE = "DESK";

    /** What a session has if its user ended it; one that runs out has not. */
    static final String ENDED = "ended";

    private static final String DESK = "desk";
    private static final String WORKSPACE = "workspace";

    private final int timeoutSeconds;
    private final int workspaceBytes;
    private final SessionCounts counts;

    Desks(Duration timeout, int workspaceBytes, SessionCounts counts) {
        this.timeoutSeconds = (int) timeout.toSeconds();
        this.workspaceBytes = workspaceBytes;
        this.counts = counts;
    }

    /** Opens a session for a user; one that the client had before ends. */
    void open(HttpServletRequest request, Desk desk) {
        end(request);
        HttpSession session = request.getSession(true);
        session.setMaxInactiveInterval(timeoutSeconds);
        session.setAttribute(DESK, desk);
        session.setAttribute(WORKSPACE, Workspace.of(desk.user(), workspaceBytes));
        counts.created();
    }

    /** Ends the client's session, if it has one. */
    void end(HttpServletRequest request) {
        HttpSession session = request.getSession(false);
        if (session != null) {
            counts.ended();
            session.setAttribute(ENDED, true);
            session.invalidate();
        }
    }

    /** The desk of the client's session; refused if it has none. */
    Desk find(HttpServletRequest request) {
        HttpSession session = request.getSession(false);
        Desk desk = session == null ? null : (Desk) session.getAttribute(DESK);
        if (desk != null) {
            return desk;
        }
        if (request.getRequestedSessionId() == null) {
            throw BusinessException.noSession();
        }
        counts.missed();
        throw BusinessException.lostSession();
    }

    /** Puts the desk back; that also tells the session's store that it has changed. */
    void keep(HttpServletRequest request, Desk desk) {
        HttpSession session = request.getSession(false);
        if (session != null) {
            session.setAttribute(DESK, desk);
        }
    }

    Workspace workspace(HttpServletRequest request) {
        return (Workspace) request.getSession(false).getAttribute(WORKSPACE);
    }
}
