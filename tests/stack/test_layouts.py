"""Several app nodes behind a real balancer: shared out, killed, started again."""

import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from sizebook.hosts import Guard, LocalHost
from sizebook.lab.deployments import app_stack
from sizebook.lab.placement import place
from sizebook.model.errors import TrialError
from sizebook.probes.balancer import BalancerProbe
from sizebook.stack import StackRunner, ensure_built
from sizebook.store import Project

PROJECT = Project(Path(__file__).resolve().parents[2])


@pytest.fixture(scope="module")
def layout(tmp_path_factory):
    """Two app nodes behind a balancer, started once."""
    folder = tmp_path_factory.mktemp("layout")
    guard = Guard(folder / "guard")
    runner = StackRunner(ensure_built(PROJECT)[0], LocalHost(guard), folder.parent / "state")
    with runner.running(app_stack(place(), nodes=2, heap_mib=128), "s") as stack:
        yield stack
    guard.close()


def flights(url):
    with urllib.request.urlopen(f"{url}/rest/flights") as answer:
        return answer.read().count(b'"carrid"')


def served(stack):
    rows = stack.balancer.counters()
    return {name: int(row["stot"]) for name, row in rows.items() if name.startswith("app-")}


def wait_until(condition, timeout_s=10.0):
    deadline = time.monotonic() + timeout_s
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert condition()


def up(stack, name):
    return stack.balancer.counters()[name]["status"].startswith("UP")


def test_clients_of_the_app_go_to_the_balancer(layout):
    """One URL for the role; both nodes answer, each its share."""
    assert layout.url("app") == layout.balancer.url
    assert list(layout.processes()) == ["database-1", "app-1", "app-2", "balancer-1"]
    wait_until(lambda: up(layout, "app-1") and up(layout, "app-2"))
    before = served(layout)
    assert [flights(layout.url("app")) for _ in range(10)] == [400] * 10
    after = served(layout)
    assert {name: after[name] - before[name] for name in after} == {"app-1": 5, "app-2": 5}


def test_a_killed_node_is_missed_by_nobody_and_comes_back(layout):
    """The other node serves on, nobody calls the stack dead, and the same ports answer later."""
    old = layout.node("app-2").process.pid
    layout.kill("app-2")
    assert layout.endings() == ()
    assert [flights(layout.url("app")) for _ in range(10)] == [400] * 10
    assert layout.start_again("app-2") > 0
    assert layout.node("app-2").process.pid != old
    wait_until(lambda: up(layout, "app-2"))
    before = served(layout)["app-2"]
    wait_until(lambda: flights(layout.url("app")) == 400 and served(layout)["app-2"] > before)


def test_the_balancer_is_read_by_node(layout):
    """Each try counts at its node, each request once in the sum; both nodes are up."""
    samples = {
        one.metric: one.value for one in BalancerProbe("b", layout.balancer.counters).sample()
    }
    names = ("app-1", "app-2")
    total = sum(samples[f"balancer_sessions/{name}"] for name in names)
    assert 0 < samples["balancer_sessions/all"] <= total
    assert [samples[f"balancer_up/{name}"] for name in names] == [1.0, 1.0]


def test_an_unknown_node_is_named(layout):
    """Found, expected, next step."""
    with pytest.raises(TrialError, match=r"no node 'app-9'.*app-1, app-2"):
        layout.kill("app-9")
