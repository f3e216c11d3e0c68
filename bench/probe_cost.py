"""What the probes cost: CPU of all of them at 1 Hz over four loaded JVM nodes, beside its peers.

    .venv/bin/python bench/probe_cost.py [--nodes 4] [--rounds 5] [--seconds 10]

Ours and the peers take turns on the same stack under the same load; the numbers are medians over
the rounds, in percent of one core (CPU seconds, not time on the clock, so a busy machine does
little to them). The peers watch less than we do:

- ``psutil``: a loop as one writes it in five minutes, each second CPU, memory, threads, I/O and
  handles of each JVM and of each process of the database, and the machine's CPUs, memory, disks
  and network; no JVM, no server, no database counters;
- ``jstat``: the JDK's own ``jstat -gc PID 1000``, one process a JVM; its CPU once it runs, and
  with its start (divided by the round's length); one file of counters, no more.

What a reading costs whoever is asked (a scrape its node, a query its database) is measured apart:
many readings in a row of an idle stack. Prints one JSON object; exit code 1 if the probes cost
more than the budget of 1 % of a core.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import platform
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import polars as pl
import psutil

from sizebook.hosts import HostProcess
from sizebook.lab.bench import Bench, opened_bench
from sizebook.model.deployment import DatabaseRole, Deployment, JvmRole
from sizebook.model.errors import UserError
from sizebook.probes.base import Probe, Unavailable
from sizebook.probes.process import PidSource, ProcessProbe, read_stat
from sizebook.probes.sampler import Sampler
from sizebook.probes.sets import stack_probes
from sizebook.stack import RunningStack
from sizebook.store import find_project
from sizebook.store.lock import need_alone

BUDGET_PERCENT = 1.0
PATH = "/rest/flights"
PAUSE_S = 0.02
"""Between two requests of the load's one connection to each node."""
_READINGS = 200


@dataclass(frozen=True)
class Loader:
    """The process that makes the load, as the probes want to know it."""

    popen: subprocess.Popen[bytes]
    name: str = "generator-1"

    @property
    def pid(self) -> int:
        return self.popen.pid

    @property
    def exit_code(self) -> int | None:
        return self.popen.poll()


def main() -> int:
    """Run the benchmark and print its result."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--nodes", type=int, default=4)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--seconds", type=float, default=10.0, help="of each half of a round")
    options.add_argument("--load", nargs="+", help=argparse.SUPPRESS)
    asked = options.parse_args()
    if asked.load:
        make_load(asked.load)
        return 0
    try:
        result = run(asked.nodes, asked.rounds, asked.seconds)
    except UserError as error:
        print(f"probe_cost: {error}", file=sys.stderr)
        return 1
    print(json.dumps(result, indent=1))
    return 0 if result["metrics"]["ours_percent"] <= BUDGET_PERCENT else 1


def run(nodes: int = 4, rounds: int = 5, seconds: float = 10.0) -> dict[str, Any]:
    """Hold the machine, measure, and return the result."""
    with opened_bench(find_project(), "bench: cost of the probes") as bench:
        need_alone(bench.alone, "benchmarks")
        return measure(bench, nodes, rounds, seconds)


def measure(bench: Bench, nodes: int, rounds: int, seconds: float) -> dict[str, Any]:
    """Start the stack and the load, let probes and peers take turns, return medians and rounds."""
    deployment = Deployment(roles=(DatabaseRole(), JvmRole(role="app", nodes=nodes, heap_mib=192)))
    with bench.runner.running(deployment, "probe-cost") as stack:
        with load_on(stack) as loader:
            probes = stack_probes(stack, [cast(HostProcess, loader)])
            taken = [ours(probes, seconds) | peers(stack, seconds) for _ in range(rounds)]
        metrics = {name: statistics.median(one[name] for one in taken) for name in taken[0]}
        metrics |= served(stack, probes, nodes)
        versions = dict(stack.versions)
    for peer in ("psutil", "jstat"):
        pairs = [one[f"{peer}_percent"] / one["ours_percent"] for one in taken
                 if f"{peer}_percent" in one]  # fmt: skip
        if pairs:
            metrics[f"{peer}_over_ours"] = statistics.median(pairs)
    return {
        "metrics": {name: round(value, 4) for name, value in metrics.items()},
        "rounds": [{name: round(value, 4) for name, value in one.items()} for one in taken],
        "settings": {
            "nodes": nodes,
            "rounds": rounds,
            "seconds": seconds,
            "budget_percent": BUDGET_PERCENT,
        },
        "versions": {
            "sizebook": version("sizebook"),
            "psutil": version("psutil"),
            "python": platform.python_version(),
            "kernel": platform.release(),
            **versions,
        },
    }


def ours(probes: list[Probe], seconds: float) -> dict[str, float]:
    """Sample for so long; return percent of a core: all, and by kind of probe."""
    sampler = Sampler(probes)
    sampler.attach()
    sampler.snapshot()
    begin = time.monotonic()
    before = _own(sampler.frame())
    sampler.start()
    time.sleep(seconds)
    sampler.stop()
    wall_s = time.monotonic() - begin
    sampler.snapshot()
    after = _own(sampler.frame())
    sampler.detach()
    found = {"ours_percent": 100 * after["sampler_cpu_s"] / wall_s}
    snapshots = 1.0  # the second one; the first is in ``before``
    for metric, value in after.items():
        kind, _, probe = metric.partition("/")
        if kind == "probe_cpu_s":
            reads = wall_s / next(p.interval_s for p in probes if p.name == probe) + snapshots
            name = f"ms_a_reading_{probe.partition(':')[0]}"
            found[name] = max(found.get(name, 0.0), 1e3 * (value - before[metric]) / reads)
    return found


def _own(frame: pl.DataFrame) -> dict[str, float]:
    own = frame.filter(pl.col("source").cast(pl.String) == "probes")
    return dict(own.group_by("metric").agg(pl.col("value").last()).iter_rows())


def peers(stack: RunningStack, seconds: float) -> dict[str, float]:
    """Let both peers watch the same processes at the same time; return percent of a core each."""
    pids = [node.process.pid for node in stack.nodes]
    jstat = stack.nodes[0].jvm.home / "bin" / "jstat"
    found: dict[str, float] = {}
    with contextlib.ExitStack() as undo:
        watchers = []
        if jstat.is_file():
            watchers = [undo.enter_context(_jstat(jstat, pid)) for pid in pids]
        time.sleep(1.5 if watchers else 0.0)  # for jstat's own start
        begin = time.monotonic()
        starts = [_cpu_s(one.pid) for one in watchers]
        found["psutil_percent"] = 100 * naive_loop(stack, seconds) / (time.monotonic() - begin)
        wall_s = time.monotonic() - begin
        ends = [_cpu_s(one.pid) for one in watchers]
    if watchers:
        spent = sum(ends) - sum(starts)
        found["jstat_percent"] = 100 * spent / wall_s
        found["jstat_percent_with_start"] = 100 * sum(ends) / (wall_s + 1.5)
    return found


def naive_loop(stack: RunningStack, seconds: float) -> float:
    """Watch by psutil as one writes it down first; return the CPU seconds it took."""
    roots = [psutil.Process(node.process.pid) for node in stack.nodes]
    if stack.database is not None:
        roots.append(psutil.Process(stack.database.pid))
    begin_ns, due = time.thread_time_ns(), time.monotonic()
    for _ in range(max(1, int(seconds))):
        for root in roots:
            for process in [root, *root.children(recursive=True)]:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.as_dict(
                        ["cpu_times", "memory_info", "num_threads", "io_counters", "num_fds"]
                    )
        psutil.cpu_times(percpu=True)
        psutil.cpu_stats()
        psutil.virtual_memory()
        psutil.swap_memory()
        psutil.disk_io_counters(perdisk=True)
        psutil.net_io_counters(pernic=True)
        due += 1.0
        time.sleep(max(0.0, due - time.monotonic()))
    return (time.thread_time_ns() - begin_ns) / 1e9


@contextlib.contextmanager
def _jstat(program: Path, pid: int) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        [str(program), "-gc", str(pid), "1000"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as watcher:
        try:
            yield watcher
        finally:
            watcher.kill()


def served(stack: RunningStack, probes: list[Probe], nodes: int) -> dict[str, float]:
    """Return what readings cost the idle nodes and the idle database, in percent of a core."""
    found: dict[str, float] = {}
    for kind, count in (("prometheus", nodes), ("postgres", 1)):
        probe = next((one for one in probes if one.name.startswith(f"{kind}:")), None)
        if probe is None:
            continue
        if kind == "prometheus":
            pid, family = stack.nodes[0].process.pid, False
        else:
            assert stack.database is not None
            pid, family = stack.database.pid, True
        whole = ProcessProbe("served", _fixed(pid), family=family)
        try:
            probe.attach()
            for _ in range(_READINGS):
                list(probe.sample())
        except Unavailable as reason:
            print(f"probe_cost: {probe.name} is not measured: {reason}", file=sys.stderr)
            continue
        idle_s = _idle_cpu_s(whole)
        before, begin = _both(whole), time.monotonic()
        for _ in range(_READINGS):
            list(probe.sample())
        spent = _both(whole) - before - idle_s * (time.monotonic() - begin)
        probe.detach()
        ms = 1e3 * max(0.0, spent) / _READINGS
        found |= {f"{kind}_served_ms_a_reading": ms, f"{kind}_served_percent": 0.1 * ms * count}
    return found


def _fixed(pid: int) -> PidSource:
    return lambda: pid


def _idle_cpu_s(whole: ProcessProbe, seconds: float = 2.0) -> float:
    """Return CPU seconds a second that the process takes without being asked."""
    before = _both(whole)
    time.sleep(seconds)
    return (_both(whole) - before) / seconds


def _both(probe: ProcessProbe) -> float:
    found = {one.metric: one.value or 0.0 for one in probe.sample()}
    return found["cpu_user_s"] + found["cpu_system_s"]


def _cpu_s(pid: int) -> float:
    stat = read_stat(f"/proc/{pid}")
    return stat.user_s + stat.system_s


@contextlib.contextmanager
def load_on(stack: RunningStack) -> Iterator[Loader]:
    """Keep every node busy with requests from a process of its own."""
    urls = [node.url for node in stack.nodes]
    with subprocess.Popen([sys.executable, __file__, "--load", *urls]) as popen:
        try:
            time.sleep(3.0)  # until the nodes have compiled what is asked most
            yield Loader(popen)
        finally:
            popen.terminate()


def make_load(urls: list[str]) -> None:
    """Ask every node in a loop, one connection each, until told to end."""
    threads = [threading.Thread(target=_ask, args=(url,), daemon=True) for url in urls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _ask(url: str) -> None:
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=10)
    while True:
        connection.request("GET", PATH)
        connection.getresponse().read()
        time.sleep(PAUSE_S)


if __name__ == "__main__":
    sys.exit(main())
