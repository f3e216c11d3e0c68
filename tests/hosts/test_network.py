"""The hosts' network: free addresses, links of their own, frames as they were asked for."""

import ipaddress
import os
import sys

import pytest
from tests.waiting import HANGS_S, wait_until

from sizebook.hosts.network import claim_network, free_networks
from sizebook.hosts.wires import missing_features
from sizebook.model.deployment import HostSpec
from sizebook.model.errors import HostLacksError
from sizebook.model.network import LinkSpec, NetworkSpec

REAL = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="interfaces need root on Linux"
)
MIB = 1 << 20
HEADERS = 40 + 14
"""Of IP and TCP without options, and of the link; a time stamp makes frames carry less still."""
SERVER = """
import socket, sys
server = socket.create_server((sys.argv[1], int(sys.argv[2])))
print("listening", flush=True)
connection, peer = server.accept()
while connection.recv(1 << 16): pass
print("all from", peer[0])
"""
CLIENT = """
import socket, sys, time
begin = time.monotonic()
connection = socket.create_connection((sys.argv[1], int(sys.argv[2])))
connection.sendall(bytes(int(sys.argv[3])))
connection.shutdown(socket.SHUT_WR)
connection.recv(1)
print(time.monotonic() - begin)
"""


def test_the_first_network_that_no_route_touches():
    assert str(next(free_networks([]))) == "10.77.0.0/24"
    taken = ["10.77.0.0/23", "192.168.0.0/16", "10.77.2.17", "127.0.0.0/8"]
    assert str(next(free_networks(taken))) == "10.77.3.0/24"


def test_there_may_be_none():
    assert next(free_networks(["10.0.0.0/8"]), None) is None


def test_a_network_belongs_to_who_asked_first():
    """Two who look at the same moment see the same routes, and get networks of their own."""
    routes = ["10.77.0.0/17"]
    one, claim = claim_network(lambda: routes)
    other, second = claim_network(lambda: routes)
    assert not one.overlaps(other)
    claim.close()
    second.close()
    again, third = claim_network(lambda: routes)
    third.close()
    assert again == one


def test_what_was_made_meanwhile_is_left_alone():
    """Its maker may be gone while its routes still are there."""
    seen = iter([[], ["10.77.0.0/17"], []])
    net, claim = claim_network(lambda: next(seen))
    claim.close()
    assert net.overlaps(ipaddress.ip_network("10.77.0.0/16"))
    assert str(net) != "10.77.0.0/24"


def test_no_network_is_a_clear_message():
    with pytest.raises(HostLacksError, match=r"cover all of 10\.77\.0\.0/16"):
        claim_network(lambda: ["10.0.0.0/8"])


def opened(ground, network, *names, mode="namespace"):
    specs = [HostSpec(name=name, mode=mode, memory_mib=128) for name in names]
    return ground.opened(*specs, connected=network)


def send(ground, sender, receiver, size):
    """Send bytes from one host to another; return the seconds it took and whom they came from."""
    port = receiver.free_port()
    words = [receiver.address, str(port)]
    log = ground.scratch / f"server-{os.urandom(4).hex()}.log"
    server = receiver.start("server", [*ground.words(SERVER), *words], log=log)
    assert wait_until(lambda: server.log_tail(1) == "listening")
    client = sender.start(
        "client", [*ground.words(CLIENT), *words, str(size)], log=log.with_suffix(".client")
    )
    assert (client.wait(HANGS_S), server.wait(HANGS_S)) == (0, 0), (
        client.log_tail() + server.log_tail()
    )
    return float(client.log_tail()), server.log_tail(1).removeprefix("all from ")


def carried(host, peer, work):
    """Return how much bytes and frames a host sent over a link while something was done."""
    before = host.links[peer].use()
    work()
    after = host.links[peer].use()
    return after.sent_bytes - before.sent_bytes, after.sent_frames - before.sent_frames


@REAL
def test_a_link_of_their_own_carries_all_that_two_hosts_say(ground):
    """At the addresses that they have anyway; the shared network carries none of it."""
    network = NetworkSpec(links=(LinkSpec(ends=("a", "b")), LinkSpec(ends=("b", "local"))))
    with opened(ground, network, "a", "b") as hosts:
        a, b, local = hosts["a"], hosts["b"], hosts["local"]
        assert set(a.links) == {"shared", "b"}
        assert set(b.links) == {"shared", "a", "local"}
        for sender, receiver, name in (
            (a, b, "b"),
            (b, a, "a"),
            (b, local, "local"),
            (local, b, "b"),
        ):
            shared = sender.links["shared"].use().sent_bytes
            sent, _ = carried(sender, name, lambda: send(ground, sender, receiver, MIB))  # noqa: B023
            assert sent > MIB
            assert sender.links["shared"].use().sent_bytes - shared < 10_000
        assert send(ground, a, b, 1)[1] == a.address
        sent, _ = carried(a, "shared", lambda: send(ground, a, local, MIB))
        assert sent > MIB


@REAL
@pytest.mark.parametrize("frame_bytes", [1492, 8996])
def test_without_offloads_frames_are_as_large_as_they_may_be(ground, frame_bytes):
    """Each carries no more than its size; as many are needed as the bytes ask for."""
    network = NetworkSpec(
        offloads=False,
        frame_bytes=frame_bytes,
        links=(LinkSpec(ends=("a", "b"), frame_bytes=frame_bytes),),
    )
    with opened(ground, network, "a", "b") as hosts:
        for receiver, peer in ((hosts["b"], "b"), (hosts["local"], "shared")):
            size, frames = carried(
                hosts["a"],
                peer,
                lambda: send(ground, hosts["a"], receiver, 8 * MIB),  # noqa: B023
            )
            assert size / frames <= frame_bytes + 14
            least = 8 * MIB / (frame_bytes + 14 - HEADERS)
            assert least <= frames < 1.2 * least + 50
        told = hosts["a"].links["b"].settings()
        assert told["frames of"] == f"{frame_bytes} bytes"
        assert "tso" not in told["offloads"] and "gso" not in told["offloads"]


@REAL
def test_with_offloads_a_piece_is_larger_than_a_frame(ground):
    """What crosses from name space to name space was never cut: the size hardly matters."""
    network = NetworkSpec(links=(LinkSpec(ends=("a", "b"), frame_bytes=1492),))
    with opened(ground, network, "a", "b") as hosts:
        size, frames = carried(
            hosts["a"], "b", lambda: send(ground, hosts["a"], hosts["b"], 8 * MIB)
        )
        assert size / frames > 3 * 1492
        assert "tso" in hosts["a"].links["b"].settings()["offloads"]


@REAL
def test_a_rate_is_kept_whichever_way(ground):
    """16 Mbit/s are 2 MB a second: a megabyte takes half a second, and no less."""
    network = NetworkSpec(links=(LinkSpec(ends=("a", "b"), rate_mbit_per_s=16),))
    with opened(ground, network, "a", "b") as hosts:
        for sender, receiver in (("a", "b"), ("b", "a")):
            assert send(ground, hosts[sender], hosts[receiver], MIB)[0] > 0.9 * 8 * MIB / 16e6
        assert "rate 16Mbit" in hosts["a"].links["b"].settings()["shaping"]


@REAL
def test_all_packets_share_one_router(ground):
    """What has no link of its own goes through it, also from and to this machine."""
    network = NetworkSpec(router_mbit_per_s=16, links=(LinkSpec(ends=("b", "c")),))
    with opened(ground, network, "a", "b", "c") as hosts:
        for sender, receiver in (("a", "b"), ("local", "a"), ("c", "local")):
            seconds, told = send(ground, hosts[sender], hosts[receiver], MIB // 2)
            assert seconds > 0.9 * 4 * MIB / 16e6
            assert told == hosts[sender].address
        sent, _ = carried(hosts["b"], "c", lambda: send(ground, hosts["b"], hosts["c"], MIB))
        assert sent > MIB


@REAL
def test_a_delay_is_kept_or_refused_with_the_kernels_reason(ground):
    """Whether the kernel has netem decides; both answers are tried by what they promise."""
    missing = missing_features(ground.guard)
    assert set(missing) <= {"delay"}
    network = NetworkSpec(links=(LinkSpec(ends=("a", "b"), delay_ms=30),))
    if "delay" in missing:
        with pytest.raises(HostLacksError, match="netem"), opened(ground, network, "a", "b"):
            pass
        return
    with opened(ground, network, "a", "b") as hosts:
        assert send(ground, hosts["a"], hosts["b"], 1)[0] > 0.06


@REAL
def test_containers_have_links_of_their_own_too(ground):
    network = NetworkSpec(links=(LinkSpec(ends=("a", "b"), frame_bytes=8996),))
    with opened(ground, network, "a", "b", mode="container") as hosts:
        sent, _ = carried(hosts["a"], "b", lambda: send(ground, hosts["a"], hosts["b"], MIB))
        assert sent > MIB
