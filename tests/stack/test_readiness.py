"""How long is waited until nodes are ready."""

import time
from types import SimpleNamespace

import pytest

from sizebook.hosts import Guard, LocalHost
from sizebook.model.errors import TrialError
from sizebook.stack import readiness
from sizebook.stack.nodes import Node
from sizebook.store.lock import NOT_ALONE


@pytest.mark.parametrize(
    ("cpus", "nodes", "alone", "expected"),
    [(1, 3, True, 0.6), (2, 3, True, 0.3), (4, 3, True, 0.2), (4, 3, False, 1.0)],
)
def test_nodes_that_share_a_cpu_have_more_time(cpus, nodes, alone, expected, tmp_path, monkeypatch):
    """What one node may take it may take for each turn of those that start at once.

    Where others measure meanwhile, as in these tests, it may take five times as long.
    """
    monkeypatch.setenv(NOT_ALONE, "" if alone else "1")
    monkeypatch.setattr(readiness, "_READY_TIMEOUT_S", 0.2)
    monkeypatch.setattr(readiness.psutil, "cpu_count", lambda: cpus)
    guard = Guard(tmp_path / "guard")
    host = LocalHost(guard)
    url = f"http://{host.address}:{host.free_port()}"
    silent = [
        Node(
            name := f"app-{number}",
            "app",
            host.start(name, ["sleep", "60"], log=tmp_path / name),
            url,
            None,
            SimpleNamespace(),
            host,
            (),
            1,
            lambda _: None,
        )
        for number in range(nodes)
    ]
    with pytest.raises(TrialError, match=rf"node app-0 not ready in {expected:g} s"):
        readiness.wait_ready(silent)
    assert time.monotonic() - silent[0].started_s > expected
    guard.close()
