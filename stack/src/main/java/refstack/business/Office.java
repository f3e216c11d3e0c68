package refstack.business;

import jakarta.servlet.http.HttpServletRequest;
import org.springframework.http.ResponseEntity;
import refstack.answers.Refusal;
import refstack.business.BusinessMetrics.Outcome;

/** Where transactions are done: with a desk, by a worker, counted. */
class Office {

    private final Desks desks;
    private final Workers workers;
    private final BusinessMetrics metrics;
    private final String node;

    Office(Desks desks, Workers workers, BusinessMetrics metrics, String node) {
        this.desks = desks;
        this.workers = workers;
        this.metrics = metrics;
        this.node = node;
    }

    /** A transaction: writes its page and returns the desk as it leaves it. */
    @FunctionalInterface
    interface Work {

        Desk at(Desk desk, Page page);
    }

    /** A transaction that leaves the desk as it is. */
    @FunctionalInterface
    interface Reading {

        void at(Desk desk, Page page);
    }

    /** Something that is counted, and answers. */
    @FunctionalInterface
    private interface Counted {

        Page run();
    }

    /** Does a transaction for the user of the request's session. */
    ResponseEntity<byte[]> serve(BusinessTransaction transaction, HttpServletRequest request,
            Work work) {
        return counted(transaction, () -> {
            Desk desk = desks.find(request).nextStep();
            Page page = Page.of(transaction, desk, node);
            desks.keep(request, workers.work(() -> work.at(desk, page)));
            return page;
        });
    }

    /** Does one that does not change the desk. */
    ResponseEntity<byte[]> read(BusinessTransaction transaction, HttpServletRequest request,
            Reading work) {
        return serve(transaction, request, (desk, page) -> {
            work.at(desk, page);
            return desk;
        });
    }

    /** Opens a session. */
    ResponseEntity<byte[]> signOn(HttpServletRequest request, int user, Users users) {
        return counted(BusinessTransaction.SIGN_ON, () -> {
            Desk desk = workers.work(() -> users.desk(user));
            desks.open(request, desk);
            return Page.of(BusinessTransaction.SIGN_ON, desk, node).text("name", desk.name())
                    .output("branch", desk.branch());
        });
    }

    /** Ends a session. */
    ResponseEntity<byte[]> signOff(HttpServletRequest request) {
        return counted(BusinessTransaction.SIGN_OFF, () -> {
            Desk desk = desks.find(request).nextStep();
            desks.end(request);
            return Page.of(BusinessTransaction.SIGN_OFF, desk, node);
        });
    }

    private ResponseEntity<byte[]> counted(BusinessTransaction transaction, Counted work) {
        long start = System.nanoTime();
        Outcome outcome = Outcome.FAILED;
        try {
            Page page = work.run();
            outcome = page.isRepeated() ? Outcome.REPEATED : Outcome.DONE;
            return page.answer();
        } catch (Refusal e) {
            outcome = Outcome.REFUSED;
            throw e;
        } finally {
            metrics.count(transaction, outcome, System.nanoTime() - start);
        }
    }
}
