"""What tests of the stack's parts share: a started deployment, its counters, a load against it."""

from __future__ import annotations

import contextlib
import sys
import urllib.error
import urllib.request
from pathlib import Path

import psycopg

from sizebook.hosts import Guard, LocalHost
from sizebook.lab.profiles import PROFILES
from sizebook.load.control import LOCUSTFILES, GeneratorClient
from sizebook.model.load import ClosedLoop, LoadProfile, Phases
from sizebook.probes.prometheus import PrometheusProbe
from sizebook.stack import StackRunner, ensure_built
from sizebook.store import Project

PROJECT = Project(Path(__file__).resolve().parents[2])


def as_in_smoke(deployment):
    """Return a deployment with the JVM flags of the smoke profile: its starts take a third."""
    return deployment.flagged(*PROFILES["smoke"].jvm_flags)


@contextlib.contextmanager
def started(deployment, folder, inventory=None):
    """Start a deployment as in the smoke profile, and stop it on leaving."""
    deployment = as_in_smoke(deployment)
    guard = Guard(folder / "guard")
    state = folder.parent / "state"  # what takes long to make serves all deployments of a test run
    runner = StackRunner(ensure_built(PROJECT)[0], LocalHost(guard), state, inventory)
    with runner.running(deployment, folder.name) as stack:
        yield stack
    guard.close()


def counters(stack):
    """Return what the nodes together say, by metric."""
    sums = {}
    for node in stack.nodes:
        if node.role == "broker":
            continue
        probe = PrometheusProbe(
            f"server/{node.name}",
            address=node.host.address,
            management_port=node.management_port,
            service_port=int(node.url.rsplit(":", 1)[1]),
            interval_s=10.0,  # a test waits longer for its answer than a trial does
        )
        for sample in probe.sample():
            if sample.value is not None:
                sums[sample.metric] = sums.get(sample.metric, 0) + sample.value
        probe.detach()
    return sums


def post(url, body=b""):
    """Return status and body of the answer to a POST."""
    request = urllib.request.Request(url, data=body, headers={"Content-Type": "application/xml"})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def ask(stack, query):
    """Return the rows of a query."""
    with psycopg.connect(stack.cluster.admin_dsn, autocommit=True) as connection:
        return connection.execute(query).fetchall()


def load(stack, folder, locustfile, users, settings, measured_s=0.5, over=None):
    """Run a locustfile of the project against a started deployment; return what came of it.

    ``users`` of a closed loop, or any other arrivals. The event ``over`` ends it, within a second.
    """
    guard = Guard(folder / "generator")
    profile = LoadProfile(
        locustfile=locustfile,
        arrivals=ClosedLoop(users=users) if isinstance(users, int) else users,
        phases=Phases(warmup_s=0.1, measured_s=measured_s, drain_s=10.0),
        settings=settings,
    )
    host = LocalHost(guard)
    with GeneratorClient(host, sys.executable, folder, locustfiles=LOCUSTFILES) as generator:
        generator.prepare(profile, {"app": stack.url("app")}, folder)
        collected = generator.run(lambda _: over and over.is_set() and generator.stop_trial())
    guard.close()
    return collected
