"""The hosts' network takes addresses that nobody has."""

from sizebook.hosts.network import free_networks


def test_the_first_network_that_no_route_touches():
    assert str(next(free_networks([]))) == "10.77.0.0/24"
    taken = ["10.77.0.0/23", "192.168.0.0/16", "10.77.2.17", "127.0.0.0/8"]
    assert str(next(free_networks(taken))) == "10.77.3.0/24"


def test_there_may_be_none():
    assert next(free_networks(["10.0.0.0/8"]), None) is None
