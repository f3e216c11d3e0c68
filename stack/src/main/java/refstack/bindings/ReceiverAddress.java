package refstack.bindings;

import java.net.URI;
import java.util.function.Supplier;
import refstack.transport.Http;

/**
 * Where the receiver is; asked for at the first call, since a node that is its own receiver knows
 * its ports only when it has started.
 *
 * @param http root of the receiver's node
 * @param rpc  host and port of its remote procedures
 */
record ReceiverAddress(Supplier<URI> http, Supplier<String> rpc) {

    /** A path of the receiver's node. */
    URI at(String path) {
        return Http.at(http.get(), path);
    }
}
