"""What goes on beside a load ends with it, and does not fail unseen."""

from __future__ import annotations

import threading

import pytest
from tests.waiting import HANGS_S

from sizebook.lab.background import alongside


def test_tasks_run_at_once_and_are_waited_for():
    """Each is there while the others are, and has done its last when the context is left."""
    met, ended = threading.Barrier(3), []

    def task(over):
        met.wait(timeout=HANGS_S)
        over.wait()
        ended.append(over.is_set())

    with alongside([task, task]):
        met.wait(timeout=HANGS_S)
        assert not ended
    assert ended == [True, True]


@pytest.mark.parametrize("error", [OSError("no such file"), KeyError("node")])
def test_what_nobody_expected_is_raised_as_well(error):
    """An error of any kind, once the others are done."""
    others = []

    def fail(over):
        raise error

    def other(over):
        over.wait()
        others.append("done")

    with pytest.raises(type(error)), alongside([other, fail]):
        assert not others
    assert others == ["done"]


def test_the_error_of_the_load_comes_first():
    """Why it failed explains why something beside it failed, too; what is beside it still ends."""

    def fail(over):
        over.wait()
        raise ValueError("beside")

    with pytest.raises(RuntimeError, match="the load"), alongside([fail]):
        raise RuntimeError("the load")
