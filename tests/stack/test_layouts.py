"""Several app nodes behind a real balancer: shared out, killed, started again."""

import urllib.error
import urllib.request
from pathlib import Path

import pytest
from tests.stack.part_stack import as_in_smoke
from tests.waiting import wait_until

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
    plain = app_stack(place(), nodes=2, heap_mib=128)
    watchful = plain.changed("balancer", check_within_s=0.2, ends_lost=True)
    with runner.running(as_in_smoke(watchful), "s") as stack:
        yield stack
    guard.close()


def flights(url):
    with urllib.request.urlopen(f"{url}/rest/flights") as answer:
        return answer.read().count(b'"carrid"')


def served(stack):
    rows = stack.balancer.counters()
    return {name: int(row["stot"]) for name, row in rows.items() if name.startswith("app-")}


def up(stack, name):
    return stack.balancer.counters()[name]["status"].startswith("UP")


def test_clients_of_the_app_go_to_the_balancer(layout):
    """One URL for the role; both nodes answer, each its share."""
    assert layout.url("app") == layout.balancer.url
    assert list(layout.processes()) == ["database-1", "app-1", "app-2", "balancer-1"]
    assert wait_until(lambda: up(layout, "app-1") and up(layout, "app-2"))
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
    assert wait_until(lambda: up(layout, "app-2"))
    before = served(layout)["app-2"]
    assert wait_until(
        lambda: flights(layout.url("app")) == 400 and served(layout)["app-2"] > before
    )


def test_a_hung_node_is_found_out_and_trusted_again(layout):
    """It accepts connections and answers nobody: only the question whether it is ready shows it."""
    assert wait_until(lambda: up(layout, "app-1") and up(layout, "app-2"))
    layout.suspend("app-1")
    try:
        assert wait_until(lambda: not up(layout, "app-1"))
        before = served(layout)
        assert [flights(layout.url("app")) for _ in range(10)] == [400] * 10
        assert served(layout)["app-1"] == before["app-1"]
        assert (layout.endings(), layout.is_as_deployed) == ((), False)
    finally:
        layout.resume("app-1")
    assert wait_until(lambda: up(layout, "app-1"))
    log = (layout.folder / "logs" / "balancer-1.log").read_text()
    assert "Server nodes/app-1 is DOWN" in log and "Layer7 timeout" in log


def test_a_drained_node_is_stopped_and_renewed(layout):
    """New requests go elsewhere, those under way are answered, and it comes back as it was."""
    assert wait_until(lambda: up(layout, "app-1") and up(layout, "app-2"))
    layout.balancer.drain("app-2")
    before = served(layout)["app-2"]
    assert [flights(layout.url("app")) for _ in range(6)] == [400] * 6
    assert served(layout)["app-2"] == before
    layout.balancer.take_out("app-2")
    assert wait_until(lambda: layout.balancer.under_way("app-2") == 0)
    layout.stop("app-2")
    assert layout.node("app-2").process.exit_code == 143  # asked with SIGTERM, and obeyed
    assert layout.endings() == ()
    layout.start_again("app-2")
    layout.balancer.put_back("app-2")
    assert wait_until(lambda: up(layout, "app-2"))
    assert wait_until(
        lambda: flights(layout.url("app")) == 400 and served(layout)["app-2"] > before
    )


def test_an_order_that_is_not_taken_is_an_error(layout):
    """With the balancer's own words."""
    with pytest.raises(TrialError, match="says to 'set server nodes/app-9 state drain': No such"):
        layout.balancer.drain("app-9")


def test_the_balancer_is_read_by_node(layout):
    """Each try counts at its node, each request once in the sum; both nodes are up."""
    samples = {
        one.metric: one.value for one in BalancerProbe("b", layout.balancer.counters).sample()
    }
    names = ("app-1", "app-2")
    total = sum(samples[f"balancer_sessions/{name}"] for name in names)
    assert 0 < samples["balancer_sessions/all"] <= total
    assert [samples[f"balancer_up/{name}"] for name in names] == [1.0, 1.0]
    asked = samples["balancer_requests/clients"]
    said = sum(samples[f"balancer_answers_{kind}xx/clients"] for kind in (2, 3, 4, 5))
    assert 0 < said == asked


def test_an_unknown_node_is_named(layout):
    """Found, expected, next step."""
    with pytest.raises(TrialError, match=r"no node 'app-9'.*app-1, app-2"):
        layout.kill("app-9")
