package refstack.connector;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.arjuna.ats.arjuna.common.Uid;
import com.arjuna.ats.jta.xa.XATxConverter;
import com.arjuna.ats.jta.xa.XidImple;
import com.zaxxer.hikari.HikariDataSource;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.transaction.xa.XAException;
import javax.transaction.xa.Xid;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.util.unit.DataSize;
import refstack.TestDatabase;
import refstack.core.BackendTimeoutException;
import refstack.core.BackendUnavailableException;
import refstack.transport.RpcEndpoint;

/** Transactions that break off at every point, over a real connection to a real database. */
class TransactionsTest {

    private static final ConnectorProperties PROPERTIES = new ConnectorProperties("u", "p", 10, 1,
            Duration.ofMillis(200), Duration.ofSeconds(5), DataSize.ofKilobytes(64));
    private static final int POOL = 3;
    private static final SimpleMeterRegistry METERS = new SimpleMeterRegistry();

    private static ExecutorService threads;
    private static ExecutorService ends;
    private static HikariDataSource database;
    private static Branches branches;
    private static RpcEndpoint server;
    private static Transactions transactions;

    @BeforeAll
    static void start() {
        database = new HikariDataSource();
        database.setJdbcUrl(TestDatabase.url());
        database.setUsername("postgres");
        database.setMaximumPoolSize(POOL);
        threads = Executors.newFixedThreadPool(POOL);
        ends = Executors.newFixedThreadPool(POOL);
        BackEndSystem system = new BackEndSystem(database, Duration.ofSeconds(1), METERS);
        branches = new Branches(database, system, Duration.ofSeconds(60), METERS);
        server = new RpcServer(system, branches, new Logins(PROPERTIES, METERS).over("rpc"),
                new InetSocketAddress("127.0.0.1", 0), port -> { }, PROPERTIES.maxFrame(),
                new RpcServer.Threads(threads, ends), METERS).endpoint();
        server.start();
        transactions = new Transactions("node", Path.of("target", "connector-test")
                .toAbsolutePath(), connection(), METERS);
    }

    @AfterAll
    static void stop() {
        transactions.close();
        server.stop();
        branches.close();
        threads.shutdown();
        ends.shutdown();
        database.close();
    }

    private static RpcConnection connection() {
        return new RpcConnection("127.0.0.1:" + server.port(), PROPERTIES);
    }

    /** A node that is killed after its log was forced and before the back end was told. */
    @Test
    void whatWasDecidedIsCommittedByTheRecovery() throws Exception {
        double forces = CountingLogStore.forced();
        double recovered = count("refstack.connector.recovered", "committed");
        try (RpcConnection connection = connection()) {
            transactions.manager().begin();
            BranchResource branch = new BranchResource(connection) {
                @Override
                public void commit(Xid xid, boolean onePhase) throws XAException {
                    throw new XAException(XAException.XAER_RMFAIL);
                }
            };
            transactions.manager().getTransaction().enlistResource(branch);
            connection.process(new Message("decided", new byte[1]), branch.name());
            transactions.manager().commit();
            assertThat(CountingLogStore.forced()).isGreaterThan(forces);
            await(() -> rows("decided") == 1);
            await(() -> !branches.prepared().contains(branch.name()));
            // The recovery counts a branch after the back end has ended it.
            await(() -> count("refstack.connector.recovered", "committed") == recovered + 1);
        }
    }

    /** A node that is killed after prepare and before its log was forced. */
    @Test
    void whatWasNotDecidedIsRolledBackIfItIsOurs() throws Exception {
        Xid ours = XATxConverter.getXid(new Uid(), true, XATxConverter.FORMAT_ID);
        Xid theirs = XATxConverter.getXid(new Uid(), true, XATxConverter.FORMAT_ID);
        XATxConverter.setNodeName(((XidImple) theirs).getXID(), "another");
        Xid strangers = new RecoveredXid(1, new byte[]{1}, new byte[]{2});
        try (RpcConnection connection = connection()) {
            for (Xid xid : new Xid[]{ours, theirs, strangers}) {
                String name = BranchResource.nameOf(xid);
                connection.process(new Message("undecided:" + name.hashCode(), new byte[1]), name);
                connection.prepare(name);
            }
            await(() -> count("refstack.connector.recovered", "rolled-back") == 1);
            assertThat(branches.prepared()).contains(BranchResource.nameOf(theirs),
                    BranchResource.nameOf(strangers));
            connection.rollback(BranchResource.nameOf(theirs));
            connection.rollback(BranchResource.nameOf(strangers));
        }
        assertThat(branches.prepared()).isEmpty();
        assertThat(rows("undecided:%")).isZero();
        // What the node's own connection rolled back is not the recovery's.
        assertThat(count("refstack.connector.recovered", "rolled-back")).isEqualTo(1);
    }

    /** A node that is killed before prepare: nobody waits for its locks. */
    @Test
    void whatWasNotPreparedEndsWithItsConnection() throws Exception {
        RpcConnection killed = connection();
        killed.process(new Message("lost", new byte[1]), "1.aa.bb");
        killed.close();
        await(() -> count("refstack.connector.branches", "abandoned") == 1);
        try (RpcConnection other = connection()) {
            assertThat(other.process(new Message("lost", new byte[1]), "").stored()).isTrue();
            assertThatThrownBy(() -> other.prepare("1.aa.bb"))
                    .isInstanceOf(NoBranchException.class);
        }
    }

    @Test
    void whoWaitsForAnUndecidedMessageIsToldInTime() throws Exception {
        try (RpcConnection first = connection(); RpcConnection second = connection()) {
            first.process(new Message("contended", new byte[1]), "1.cc.dd");
            assertThatThrownBy(() -> second.process(new Message("contended", new byte[1]), ""))
                    .isInstanceOf(BackendUnavailableException.class);
            first.rollback("1.cc.dd");
            assertThat(second.process(new Message("contended", new byte[1]), "").stored())
                    .isTrue();
        }
    }

    @Test
    void endingWhatIsNotThereIsToldButForRollback() {
        try (RpcConnection connection = connection()) {
            BranchResource resource = new BranchResource(connection);
            Xid xid = new RecoveredXid(9, new byte[]{9}, new byte[]{9});
            assertThatThrownBy(() -> resource.commit(xid, false)).isInstanceOfSatisfying(
                    XAException.class, e -> assertThat(e.errorCode).isEqualTo(
                            XAException.XAER_NOTA));
            assertThatThrownBy(() -> resource.prepare(xid)).isInstanceOf(XAException.class);
            connection.rollback(BranchResource.nameOf(xid));
            assertThatThrownBy(() -> connection.rollback("1.'; drop"))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    /** Callers that wait for the database must not keep those off who could give it back. */
    @Test
    void moreBranchesThanThreadsAndConnectionsAllEnd() throws Exception {
        ExecutorService callers = Executors.newFixedThreadPool(4 * POOL);
        try {
            List<Future<Boolean>> stored = new ArrayList<>();
            for (int i = 0; i < 4 * POOL; i++) {
                int number = i;
                stored.add(callers.submit(() -> storeInBranches("crowd:" + number + ":")));
            }
            for (Future<Boolean> one : stored) {
                assertThat(one.get()).isTrue();
            }
        } finally {
            callers.shutdownNow();
        }
        assertThat(rows("crowd:%")).isEqualTo(4 * POOL * 5);
    }

    private static boolean storeInBranches(String prefix) {
        try (RpcConnection connection = connection()) {
            boolean isStored = true;
            for (int i = 0; i < 5; i++) {
                String name = "1." + HexFormat.of().formatHex((prefix + i).getBytes(UTF_8)) + ".00";
                isStored &= connection.process(new Message(prefix + i, new byte[1]), name)
                        .stored();
                connection.prepare(name);
                connection.commit(name);
            }
            return isStored;
        }
    }

    @Test
    void anExhaustedPoolIsATimeoutThatIsCounted() {
        try (RpcPool pool = new RpcPool("test", TransactionsTest::connection, PROPERTIES, METERS)) {
            pool.lend(only -> {
                assertThatThrownBy(() -> pool.lend(none -> none))
                        .isInstanceOf(BackendTimeoutException.class);
                return only;
            });
            assertThat(METERS.get("refstack.connector.pool.timeouts").tag("pool", "test")
                    .counter().count()).isEqualTo(1);
            assertThat(pool.<String>lend(free -> "free again")).isEqualTo("free again");
        }
    }

    private static double count(String name, String outcome) {
        return METERS.get(name).tag("outcome", outcome).counter().count();
    }

    private static int rows(String id) throws SQLException {
        try (Connection connection = database.getConnection();
                ResultSet row = connection.createStatement().executeQuery("select count(*) "
                        + "from connector_message where id like '" + id + "'")) {
            row.next();
            return row.getInt(1);
        }
    }

    private static void await(Callable<Boolean> condition) throws Exception {
        for (int i = 0; i < 600 && !condition.call(); i++) {
            Thread.sleep(50);
        }
        assertThat(condition.call()).isTrue();
    }
}
