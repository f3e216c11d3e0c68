"""Events and messages over real nodes and a real broker: killed, started again, counted."""

import json
import re
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import psycopg
import pytest
from tests.stack.part_stack import as_in_smoke
from tests.waiting import wait_until

from sizebook.hosts import Guard, LocalHost
from sizebook.lab.deployments import events_stack, messaging_stack
from sizebook.lab.placement import place
from sizebook.model.errors import UsageError
from sizebook.probes.prometheus import PrometheusProbe
from sizebook.stack import StackRunner, ensure_built
from sizebook.stack.settings import PROPERTIES
from sizebook.store import Project

PROJECT = Project(Path(__file__).resolve().parents[2])
EVENT = (
    '<event id="{0}" agent="a" sequence="1" time="2026-01-01T00:00:00Z">'
    "<tag>t</tag><value>1.5</value></event>"
)


@pytest.fixture(scope="module")
def runner(tmp_path_factory):
    folder = tmp_path_factory.mktemp("queues")
    guard = Guard(folder / "guard")
    yield StackRunner(ensure_built(PROJECT)[0], LocalHost(guard), folder.parent / "state")
    guard.close()


@pytest.fixture(scope="module")
def queue(runner):
    """One node that drains the queue of a broker process, started once."""
    deployment = messaging_stack(
        place(),
        total_heap_mib=192,
        broker="process",
        broker_heap_mib=128,
        settings={"consumers": 0},
        broker_settings={"queue-max-bytes": 50_000_000},
    )
    with runner.running(as_in_smoke(deployment), "m") as stack:
        yield stack


def ask(url, body=None):
    """Return the status and what the answer says; status 0 if none came."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body), timeout=30) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)
    except OSError:
        return 0, {}


def rows(stack, table):
    with psycopg.connect(stack.cluster.admin_dsn, autocommit=True) as connection:
        return {row[0] for row in connection.execute(f"select id from {table}").fetchall()}


def counters(node):
    probe = PrometheusProbe(
        f"server/{node.name}",
        address=node.host.address,
        management_port=node.management_port,
        service_port=int(node.url.rsplit(":", 1)[1]),
        interval_s=10.0,  # a test waits longer for its answer than a trial does
    )
    told = {sample.metric: sample.value for sample in probe.sample()}
    probe.detach()
    return told


def test_a_filled_queue_is_drained_exactly(queue):
    """Filled while nobody works on it, drained when told to; broker and node count the same."""
    url = f"{queue.url('app')}/messaging"
    assert ask(f"{url}/fill?count=400&bytes=64&seed=1", b"")[1]["count"] == 400
    before = ask(f"{url}/state")[1]
    assert (before["depth"], before["consumers"]) == (400, 0)
    assert ask(f"{url}/consumers?count=3", b"")[0] == 200
    assert wait_until(lambda: ask(f"{url}/state")[1]["depth"] == 0, 60)
    assert len(rows(queue, "messaging_row")) == 400
    broker, app = counters(queue.node("broker-1")), counters(queue.node("app-1"))
    assert broker["queue_added_total/work"] == broker["queue_acknowledged_total/work"] == 400
    assert (broker["queue_depth/work"], broker["queue_consumers/work"]) == (0, 3)
    assert broker["journal_syncs_total/messages"] > 4 and broker["heap_used_bytes"] > 0
    assert (app["messages_total/sent"], app["messages_total/stored"]) == (400, 400)
    assert (app["messages_total/duplicate"], app["message_consumers/all"]) == (0, 3)
    assert "queue_depth/work" not in app


def test_a_broker_killed_in_the_middle_loses_and_doubles_nothing(queue):
    """Refused senders try again with the same id; what was acknowledged is stored, once."""
    url = f"{queue.url('app')}/messaging"
    acknowledged, over = set(), threading.Event()

    def sender(number):
        message = 0
        while not over.is_set():
            name = f"kill-{number}-{message}"
            if ask(f"{url}/messages?id={name}", b"x" * 100)[0] == 200:
                acknowledged.add(name)
                message += 1
            else:
                time.sleep(0.02)

    threads = [threading.Thread(target=sender, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    assert wait_until(lambda: len(acknowledged) > 30, 60)
    queue.kill("broker-1")
    assert ask(f"{url}/messages?id=nobody", b"x")[0] == 503
    queue.start_again("broker-1")
    enough = len(acknowledged) + 30
    assert wait_until(lambda: len(acknowledged) > enough, 60)
    over.set()
    for thread in threads:
        thread.join()
    assert wait_until(lambda: ask(f"{url}/state")[1].get("depth") == 0, 60)
    mine = {name for name in rows(queue, "messaging_row") if name.startswith("kill-")}
    assert acknowledged <= mine
    assert len(mine - acknowledged) <= 3  # each sender's last, if its answer was lost
    for node in queue.nodes:
        assert "\tat " not in without_broken_connections(node.process.log_tail(200))


def without_broken_connections(log):
    """Return a log without what the broker's client says of a connection that broke in the making.

    It has a trace (AMQ214016, "No ActiveMQChannelHandler") where a broker is killed just after it
    accepted the connection.
    """
    entries = re.split(r"(?m)^(?=\d{4}-\d\d-\d\dT)", log)
    return "".join(entry for entry in entries if "AMQ214016" not in entry)


def test_a_trace_of_anything_else_is_seen():
    """The log of a killed broker's clients is searched all the same."""
    broken = "2026-01-01T00:00:00 ERROR AMQ214016: Failed\njava.lang.X: x\n\tat a.b(C.java:1)\n"
    other = "2026-01-01T00:00:01 ERROR else\njava.lang.Y: y\n\tat d.e(F.java:2)\n"
    assert without_broken_connections(broken) == ""
    assert without_broken_connections(broken + other + broken) == other


def test_events_survive_the_node_that_accepted_them(runner):
    """Two nodes with a broker each: one is killed with a full queue and stores it afterwards."""
    deployment = events_stack(
        place(), nodes=2, total_heap_mib=384, settings={"event_workers": 1, "pool": 2}
    )
    with runner.running(as_in_smoke(deployment), "e") as stack:
        url = stack.url("app")
        accepted = {f"e-{number}" for number in range(60)}
        for name in sorted(accepted):
            assert ask(f"{url}/events", EVENT.format(name).encode())[0] == 202
        stack.kill("app-1")
        stack.start_again("app-1")
        assert wait_until(lambda: rows(stack, "event") == accepted, 60)
        assert ask(f"{url}/events", b"<event/>")[0] == 400
        told = counters(stack.node("app-2"))
        assert told["events_total/accepted"] == told["events_total/stored"] > 0
        assert told["event_workers/all"] == 1


def test_layouts_share_the_heap():
    """The same total in every layout; a broker process only where it is asked for."""
    for stack, part in ((events_stack, "events"), (messaging_stack, "messaging")):
        for nodes in (1, 2, 4):
            deployment = stack(place(), nodes=nodes, total_heap_mib=1024)
            app = deployment.find("app")
            assert (app.total_heap_mib, app.settings["parts"]) == (1024, part)
            assert (deployment.balancer() is not None) == (nodes > 1)
            assert deployment.find("broker") is None
        remote = stack(place(), broker="process", broker_heap_mib=300)
        assert remote.find("broker").heap_mib == 300
        with pytest.raises(UsageError, match="broker 'paper'"):
            stack(place(), broker="paper")
        with pytest.raises(UsageError, match="51 MiB of heap for each of 20 nodes"):
            stack(place(), nodes=20, total_heap_mib=1024)
        with pytest.raises(UsageError, match="settings of a broker process"):
            stack(place(), broker_settings={"queues": "work"})
    assert {"consumers", "event_workers", "senders", "broker_queue_max_bytes"} <= set(PROPERTIES)
