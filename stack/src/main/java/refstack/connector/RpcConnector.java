package refstack.connector;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;

/** A remote procedure call over a connection of a pool that the application keeps. */
class RpcConnector implements Connector {

    static final String WAY = "rpc";

    private final RpcPool pool;
    private final Counter sent;

    RpcConnector(RpcPool pool, MeterRegistry registry) {
        this.pool = pool;
        this.sent = Connector.sent(WAY, registry);
    }

    @Override
    public String way() {
        return WAY;
    }

    @Override
    public StoredReceipt send(Message message) {
        StoredReceipt receipt = pool.lend(connection -> connection.process(message, ""));
        sent.increment();
        return receipt;
    }
}
