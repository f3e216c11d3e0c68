"""The three ways to the back end, over real nodes: stored once, counted, recovered after a kill."""

import http.client
import json
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import psycopg
import pytest
from tests.stack.part_stack import as_in_smoke
from tests.waiting import wait_until

from sizebook.chapters.connectors import connector_stack
from sizebook.hosts import Guard, LocalHost
from sizebook.lab.placement import place
from sizebook.model.errors import UsageError
from sizebook.probes.prometheus import PrometheusProbe
from sizebook.stack import StackRunner, ensure_built
from sizebook.stack.settings import PROPERTIES
from sizebook.store import Project

PROJECT = Project(Path(__file__).resolve().parents[2])
WAYS = ("soap", "rpc", "logged")


@pytest.fixture(scope="module")
def connected(tmp_path_factory):
    """Two app nodes behind a balancer, with one back end, started once."""
    folder = tmp_path_factory.mktemp("connected")
    guard = Guard(folder / "guard")
    runner = StackRunner(ensure_built(PROJECT)[0], LocalHost(guard), folder.parent / "state")
    deployment = connector_stack(
        place(),
        nodes=2,
        total_heap_mib=256,
        backend_heap_mib=128,
        settings={"connector_pool": 2},
        backend_settings={"login_iterations": 1000},
    )
    with runner.running(as_in_smoke(deployment), "s") as stack:
        yield stack
    guard.close()


def send(url, way, message, body=b"<m/>"):
    """Return the status and what a good answer says; status 0 if none came."""
    request = urllib.request.Request(
        f"{url}/connectors/{way}/messages?id={message}",
        data=body,
        headers={"Content-Type": "application/xml"},
    )
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, {}
    except (OSError, http.client.HTTPException):
        return 0, {}


def counters(stack):
    """Return what the nodes together say, by metric."""
    sums = {}
    for node in stack.nodes:
        probe = PrometheusProbe(
            f"server/{node.name}",
            address=node.host.address,
            management_port=node.management_port,
            service_port=int(node.url.rsplit(":", 1)[1]),
            interval_s=10.0,  # a test waits longer for its answer than a trial does
        )
        for sample in probe.sample():
            if sample.metric.startswith("connector_"):
                sums[sample.metric] = sums.get(sample.metric, 0) + sample.value
        probe.detach()
    return sums


def ask(stack, query):
    with psycopg.connect(stack.cluster.admin_dsn, autocommit=True) as connection:
        return connection.execute(query).fetchall()


def test_each_way_stores_once_and_shows_what_it_takes(connected):
    """Connections and logins with every SOAP call, a forced record with every logged one."""
    url = connected.url("app")
    for number in range(40):  # until the pools of both nodes are open
        for way in WAYS:
            assert send(url, way, f"open-{way}-{number}")[0] == 200
        before = counters(connected)
        if number > 8 and before["connector_opened_total/rpc"] == 4:
            break
    nodes = set()
    for way in WAYS:
        for number in range(6):
            status, told = send(url, way, f"{way}-{number}", b"<message/>")
            assert (status, told["id"], told["bytes"]) == (200, f"{way}-{number}", 10)
            assert told["stored"] is True and told["way"] == way
            nodes.add(told["node"])
    assert send(url, "rpc", "soap-0")[1]["stored"] is False
    after = counters(connected)
    rise = {metric: after[metric] - before.get(metric, 0) for metric in after}
    assert nodes == {"app-1", "app-2"}
    assert [rise[f"connector_stored_total/{way}"] for way in WAYS] == [6, 6, 6]
    assert [rise[f"connector_sent_total/{way}"] for way in WAYS] == [6, 7, 6]
    assert rise["connector_duplicates_total/rpc"] == 1
    assert rise["connector_opened_total/soap"] == rise["connector_logins_total/soap"] == 6
    assert rise["connector_opened_total/rpc"] == rise["connector_logins_total/rpc"] == 0
    assert rise["connector_forces_total/logged"] == rise["connector_branches_total/prepared"] == 6
    assert after["connector_limit/rpc"] == 4 and after["connector_active/logged"] == 0
    assert ask(
        connected,
        "select way, count(*) from connector_message where id !~ '^open' group by way order by 1",
    ) == [("logged", 6), ("rpc", 6), ("soap", 6)]


def test_errors_are_told_by_their_status(connected):
    """Unknown way, bad id, too large: each its status, and the next message passes."""
    url = connected.url("app")
    assert send(url, "mail", "x")[0] == 404
    assert send(url, "rpc", "no%20id")[0] == 400
    assert send(url, "soap", "large", b"x" * (2 * 1024 * 1024 + 1))[0] == 413
    assert send(url, "logged", "after-errors")[0] == 200
    for node in connected.nodes:
        assert "\tat " not in node.process.log_tail(200)


def test_a_node_killed_in_the_middle_loses_and_doubles_nothing(connected):
    """What was acknowledged is stored; what was left undecided is ended after the restart."""
    url = connected.url("app")
    told, over = {}, threading.Event()

    def sender(number):
        message = 0
        while not over.is_set():
            message += 1
            told[f"kill-{number}-{message}"] = send(url, "logged", f"kill-{number}-{message}")[0]

    threads = [threading.Thread(target=sender, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    assert wait_until(lambda: list(told.values()).count(200) > 20)
    connected.kill("app-1")
    time.sleep(0.3)
    connected.start_again("app-1")
    over.set()
    for thread in threads:
        thread.join()
    wait_until(lambda: not ask(connected, "select gid from pg_prepared_xacts"))
    assert ask(connected, "select gid from pg_prepared_xacts") == []
    stored = {row[0] for row in ask(connected, "select id from connector_message")}
    acknowledged = {message for message, status in told.items() if status == 200}
    unanswered = {message for message, status in told.items() if status != 200}
    mine = {message for message in stored if message.startswith("kill-")}
    assert len(acknowledged) > 20
    assert acknowledged <= mine <= acknowledged | unanswered
    assert send(url, "logged", "after-the-kill")[0] == 200


def test_nodes_share_the_heap():
    """The same total in every layout; a balancer where it is needed; too small a share is said."""
    for nodes in (1, 2, 4):
        deployment = connector_stack(place(), nodes=nodes, total_heap_mib=1024)
        app = deployment.find("app")
        assert (app.total_heap_mib, app.settings["parts"]) == (1024, "connectors")
        assert (deployment.balancer() is not None) == (nodes > 1)
        assert deployment.find("backend").heap_mib == 512
    with pytest.raises(UsageError, match="51 MiB of heap for each of 20 nodes"):
        connector_stack(place(), nodes=20, total_heap_mib=1024)
    assert {"connector_pool", "rpc_threads", "login_iterations"} <= set(PROPERTIES)
