import socket
import subprocess
import sys

from sizebook.hosts.ports import HIGHEST, LOWEST, Ports, outgoing_range

ADDRESS = "127.77.0.1"  # nobody else here asks for its ports


def test_no_port_of_outgoing_connections_and_none_twice():
    """What a client's connection may get until the server listens is never handed out."""
    low, high = outgoing_range()
    ports = Ports(ADDRESS)
    taken = [ports.take() for _ in range(200)]
    assert len(set(taken)) == 200
    assert not [port for port in taken if low <= port <= high]
    assert all(LOWEST <= port <= HIGHEST for port in taken)


def test_a_port_in_use_is_passed_over():
    """Of two ports that are left, the free one is given."""
    with socket.socket() as server:
        server.bind((ADDRESS, 0))
        used = server.getsockname()[1]
        ports = Ports(ADDRESS, outgoing=(1, 65_535))
        ports._left = [LOWEST, used]
        assert ports.take() == LOWEST


def test_without_any_port_left_the_system_chooses():
    """A system whose outgoing connections may have every port gives one of its own."""
    port = Ports(ADDRESS, outgoing=(1, 65_535)).take()
    assert 0 < port < 65_536
    with socket.socket() as server:
        server.bind((ADDRESS, port))


def test_what_one_harness_was_given_no_other_gets():
    """Two that run side by side, with the same ports left: each port is given once; the claim
    is held while a server starts, and ends with a process."""
    one, other = Ports(ADDRESS, outgoing=(1, 65_535)), Ports(ADDRESS, outgoing=(1, 65_535))
    one._left = [LOWEST + 1, LOWEST]
    other._left = [LOWEST + 1, LOWEST]
    assert (one.take(), other.take()) == (LOWEST, LOWEST + 1)
    script = (
        "from sizebook.hosts.ports import Ports\n"
        f"ports = Ports({ADDRESS!r}, outgoing=(1, 65_535))\n"
        "for ports._left in ([15_000], [15_002]):\n"
        "    print(ports.take(), flush=True)\n"
        "input()\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as process:  # fmt: skip
        given = [int(process.stdout.readline()) for _ in range(2)]
        assert given[0] not in {15_000, 15_001}
        assert given[1] == 15_002
        one._left = [15_003, 15_002]
        assert one.take() == 15_003
        process.communicate("\n")
    one._left = [15_002]
    assert one.take() == 15_002


def test_only_the_last_claims_are_kept():
    """A run of many hours does not fill up with open files."""
    ports = Ports(ADDRESS)
    first = ports.take()
    for _ in range(100):
        ports.take()
    assert len(ports._claims) == 64
    again = Ports(ADDRESS, outgoing=(1, 65_535))
    again._left = [first]
    assert again.take() == first
