"""Which modes a machine has is found out by trial, once, and told with reasons."""

import dataclasses
import os
import sys

import pytest

from sizebook.hosts import HostUsage
from sizebook.hosts.bare import BARE
from sizebook.hosts.kinds import KINDS
from sizebook.hosts.mode_kind import ModeKind
from sizebook.hosts.modes import find_modes, known_modes, prove_limit
from sizebook.model.errors import HostLacksError
from sizebook.model.modes import Mode


def find(ground, *kinds):
    places = {"scratch": ground.scratch, "state": ground.state}
    return find_modes(ground.image, **places, local=ground.local, guard=ground.guard, kinds=kinds)


def missing(_):
    raise HostLacksError(found="no such program", expected="one", next_step="install it")


def test_every_mode_of_a_deployment_has_its_kind():
    assert sorted(kind.mode for kind in KINDS) == sorted(Mode.__args__)


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="groups need root")
def test_a_mode_is_tried_once_and_remembered(ground):
    """The second time nothing is looked at; another set of programs is another machine."""
    assert [(one.mode, one.reason) for one in find(ground, BARE)] == [("bare", "")]
    again = dataclasses.replace(BARE, look=missing)
    assert find(ground, again)[0].available
    other = dataclasses.replace(again, programs=("sh",))
    assert not find(ground, other)[0].available
    assert known_modes(ground.state, (other,))["bare"].bring == "install it"


def test_what_is_missing_is_told_with_what_brings_it(ground):
    """Without a trial, where that can be told before."""
    kind = ModeKind("virtio-vm", "machine", missing, 130.0, programs=("no-such-program",))
    (found,) = find(ground, kind)
    assert (found.available, found.reason, found.bring) == (False, "no such program", "install it")


class Unlimited:
    """A host whose limit is a promise only."""

    def __init__(self, local):
        self.start, self.stop = local.start, local.stop

    def set_limits(self, *limits):
        self.limits = limits

    def outside(self):
        return HostUsage(0.0, 0.0, 0, periods=9, throttled_periods=0, throttled_s=0.0)


def test_a_limit_that_stops_nothing_is_none(ground, monkeypatch):
    monkeypatch.setattr("sizebook.hosts.modes._STOPPED_WITHIN_S", 0.2)
    with pytest.raises(HostLacksError, match=r"0\.1 CPUs that never stopped"):
        prove_limit(Unlimited(ground.local), sys.executable, ground.scratch)
