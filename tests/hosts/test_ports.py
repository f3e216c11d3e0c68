import socket

from sizebook.hosts.ports import HIGHEST, LOWEST, Ports, outgoing_range

ADDRESS = "127.0.0.1"


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
