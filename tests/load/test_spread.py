"""Workers on other machines, by Locust's own runners: one load, one start, all rows.

The machines are network name spaces with an ssh server each; the server under load is real.
"""

import contextlib
import json
import time
from dataclasses import replace

import numpy as np
import psutil
import pytest
from tests.hosts import ssh_server

from sizebook.hosts import Guard, LocalHost
from sizebook.lab import app_stack, null_server, place
from sizebook.lab.generators import KeptWorkers
from sizebook.lab.inventories import VARIABLE, placed_trial, read_inventory
from sizebook.load.collect import Part, on_this_clock
from sizebook.load.protocol import Done
from sizebook.load.rows import ROW_TYPE
from sizebook.load.schedule import arrival_offsets
from sizebook.model.bundle import GeneratorFacts, PhaseMark
from sizebook.model.deployment import HostSpec
from sizebook.model.errors import TrialError, UsageError
from sizebook.model.load import ClosedLoop, LoadProfile, OpenArrivals, Phases
from sizebook.probes.sampler import Sampler
from sizebook.probes.sets import stack_probes
from sizebook.stack import StackRunner, ensure_built
from sizebook.store import Project, find_project

PROJECT = find_project()
PHASES = Phases(ramp_s=0.2, warmup_s=0.2, measured_s=1.0, drain_s=1.0)

USERS = {"load1": "root", "load2": "bench"}


@pytest.fixture(scope="module")
def machines(tmp_path_factory):
    """Two machines: one lets root in, the other a user without any rights."""
    folder = tmp_path_factory.mktemp("machines")
    with ssh_server.machines(folder, *USERS) as servers:
        hosts = {name: servers[name].host(user) for name, user in USERS.items()}
        file = folder / "inventory.yaml"
        file.write_text(
            json.dumps({"hosts": hosts, "generator": {"hosts": list(hosts), "workers": 2}})
        )
        yield file
        for name, user in USERS.items():
            assert not list((folder / name / "home" / user / ".cache/sizebook/run").iterdir())


@pytest.fixture(scope="module")
def bench(machines, tmp_path_factory):
    """A null server here, its load's workers there."""
    folder = tmp_path_factory.mktemp("spread")
    project = Project(PROJECT.root)
    guard = Guard(folder / "guard")
    local = LocalHost(guard)
    inventory = read_inventory(machines)
    with pytest.MonkeyPatch.context() as patched, contextlib.ExitStack() as undo:
        patched.setenv(VARIABLE, str(machines))
        undo.callback(guard.close)
        state = folder / "state"
        patched.setattr(Project, "state", state)
        kept = KeptWorkers(project, local)
        undo.callback(kept.drop)
        deployment, load = placed_trial(inventory, null_server(place()), profile())
        runner = StackRunner(ensure_built(PROJECT)[0], local, state, inventory)
        session = f"spread-{folder.name}"
        stack = undo.enter_context(runner.running(deployment, session, load.hosts))
        yield kept, stack, load


def profile(arrivals=None, **more):
    return LoadProfile(
        locustfile="null.py",
        arrivals=arrivals or OpenArrivals(kind="poisson", rate_per_s=150, users=20),
        phases=more.pop("phases", PHASES),
        settings={"path": "/", "expect_bytes": 1024},
        cpus=(0,),
        **more,
    )


def carried(bench, load, out):
    kept, stack, placed = bench
    load = load.model_copy(update={"hosts": placed.hosts, "workers": 2, "cpus": ()})
    group = kept.get(load.cpus, load.workers, load.hosts)
    group.prepare(load, stack.targets(), stack.folder / out)
    return group, load


def test_they_carry_the_schedule_once_from_one_moment_on(bench):
    """Each arrival is started once, in the time of this machine's clock, and every row comes."""
    group, load = carried(bench, profile(seed=5), "schedule")
    ticks = []
    collected = group.run(ticks.append)
    begin_ns = collected.phases[0].begin_ns
    planned = arrival_offsets(load.arrivals, load.phases, 5).tolist()
    assert collected.schedule.tolist() == planned
    assert sorted(collected.requests["intended_ns"] - begin_ns) == planned
    facts = collected.facts
    assert facts.issued == facts.completed == collected.requests.height == len(planned)
    assert set(collected.requests["worker"]) == {0, 1}
    assert collected.requests["latency_ns"].min() > 0
    assert ticks
    assert set(collected.counters["host"]) == {"load1", "load2"}


def test_clocks_are_read_before_and_after(bench):
    """They are one kernel's here, so that each reading is wrong by no more than it says."""
    group, _ = carried(bench, profile(ClosedLoop(users=4)), "clocks")
    begin_ns = time.monotonic_ns()
    collected = group.run()
    whole_ns = time.monotonic_ns() - begin_ns
    assert set(collected.clocks) == {"load1", "load2"}
    for readings in collected.clocks.values():
        for reading in readings:
            assert abs(reading.monotonic_ns) <= reading.uncertainty_ns < whole_ns


def test_they_are_watched_where_they_run(bench):
    """CPU of each worker by its machine; no process here stands for it."""
    kept, stack, load = bench
    group = kept.get((), 2, load.hosts)
    assert [process.pid for process in group.processes] == [None, None]
    sampler = Sampler(stack_probes(stack, group.processes, callers=group))
    sampler.attach()
    sampler.snapshot()
    sampler.stop()
    sampler.detach()
    rows = {(one["host"], one["source"], one["metric"]) for one in sampler.frame().to_dicts()}
    assert ("load1", "process/generator-1", "cpu_user_s") in rows
    assert ("load2", "process/generator-2", "cpu_user_s") in rows
    assert ("local", "cgroup/load1", "cgroup_cpu_s") in rows
    assert not [row for row in rows if row[:2] == ("local", "process/generator-1")]


def test_a_load_is_ended_early_and_keeps_its_rows(bench):
    long = Phases(warmup_s=0.0, measured_s=600.0, drain_s=1.0)
    group, _ = carried(bench, profile(phases=long), "early")
    begin = time.monotonic()
    collected = group.run(lambda _: group.stop_trial())
    assert collected.stopped_early
    assert time.monotonic() - begin < long.measured_s
    assert collected.facts.completed == collected.requests.height > 0


def test_what_is_wrong_with_a_load_is_told_from_there(bench):
    wrong = profile().model_copy(update={"settings": {"pth": "/"}})
    with pytest.raises(UsageError, match=r"setting 'pth' for null\.py"):
        carried(bench, wrong, "wrong")


def test_a_worker_that_dies_ends_the_trial(bench):
    """All are ended, the reason is told, and the next load gets new ones."""
    long = Phases(warmup_s=0.0, measured_s=60.0, drain_s=1.0)
    group, _ = carried(bench, profile(phases=long), "death")
    victim = next(
        one
        for one in psutil.process_iter(["cmdline", "environ"])
        if "sizebook.load.worker" in (one.info["cmdline"] or [])
        and (one.info["environ"] or {}).get("SIZEBOOK_TOKEN") == group._relay.token
    )
    with pytest.raises(TrialError, match="a generator that ended by itself"):
        group.run(lambda _: victim.is_running() and victim.kill())
    assert not group.alive
    again, _ = carried(bench, profile(), "after")
    assert again is not group
    assert again.run().facts.failed == 0


def test_times_are_moved_and_lengths_are_not():
    """From a clock that is an hour ahead: rows, phases, seconds by the same amount."""
    hour_ns = 3600 * 10**9
    rows = np.zeros(2, dtype=ROW_TYPE)
    rows["intended_ns"], rows["start_ns"], rows["end_ns"] = (
        np.array(each) + hour_ns for each in ([10, 20], [11, 22], [30, 50])
    )
    facts = GeneratorFacts(
        issued=2, completed=2, failed=0, dropped=0, cpu_s=0, wall_s=0, lag_p99_ms=0, lag_max_ms=0
    )
    done = Done(
        facts=facts,
        phases=(PhaseMark(name="measured", begin_ns=hour_ns, end_ns=hour_ns + 60),),
        rows=2,
        names=(),
        errors=(),
        seconds=((hour_ns + 40, {"users": 1.0}),),
        stopped_early=False,
        notes={},
    )
    far = Part(0, done, rows, None)
    here = on_this_clock(far, hour_ns)
    assert here.rows["intended_ns"].tolist() == [10, 20]
    assert (here.rows["end_ns"] - here.rows["intended_ns"]).tolist() == [20, 30]
    assert (here.done.phases[0].begin_ns, here.done.phases[0].end_ns) == (0, 60)
    assert here.done.seconds == ((40, {"users": 1.0}),)
    assert far.rows["intended_ns"][0] == hour_ns + 10
    assert replace(here, rows=far.rows).done.facts is facts


def test_machines_that_cannot_be_reached_or_serve_twice_are_refused(machines):
    inventory = read_inventory(machines)
    both = inventory.model_copy(update={"roles": {"app": "load1"}})
    with pytest.raises(UsageError, match="host load1 for workers of the load and for the stack"):
        placed_trial(both, app_stack(place()), profile())
    boxed = app_stack(place()).on(HostSpec(name="box", mode="container"), app="box")
    with pytest.raises(UsageError, match="workers on load1, which cannot reach host box"):
        placed_trial(inventory, boxed, profile())
    with pytest.raises(ValueError, match="other machines for workers, not host box"):
        profile(hosts=(HostSpec(name="box", mode="container"),))


def test_a_load_without_machines_is_the_load_that_it_was():
    """Older trials do not mention them, and are the same trials."""
    assert "hosts" not in profile().model_dump(mode="json")
