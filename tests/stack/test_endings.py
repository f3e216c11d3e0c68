"""Who watches a stack while a node of it is killed and started again on purpose."""

from types import SimpleNamespace

import pytest

from sizebook.hosts import Guard, LocalHost
from sizebook.stack import RunningStack, running
from sizebook.stack.nodes import Node


@pytest.fixture
def host(tmp_path):
    guard = Guard(tmp_path / "guard")
    yield LocalHost(guard)
    guard.close()


def test_a_killed_node_is_missed_until_its_successor_runs(host, tmp_path, monkeypatch):
    """Its end is nobody's surprise while the next process is being started; that one's is."""
    monkeypatch.setattr(running, "wait_ready", lambda _: None)
    stack = RunningStack()
    seen = []

    def start(heap_mib):
        seen.append((heap_mib, stack.endings()))
        return host.start("app-1", ["sleep", "60"], log=tmp_path / "log")

    node = Node("app-1", "app", start(1), "", None, SimpleNamespace(), host, (), 1, start)
    stack.nodes.append(node)
    stack.kill("app-1")
    assert node.process.exit_code == -9 and stack.endings() == ()
    stack.start_again("app-1", 2)
    assert seen == [(1, ()), (2, ())]
    assert stack.endings() == () and not stack.missed
    host.stop(node.process, grace_s=0.0)
    (ending,) = stack.endings()
    assert (ending.name, ending.exit_code) == ("app-1", -9)
