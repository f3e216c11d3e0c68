"""The command: ``python -m bench [NAME ...] [--short]``, wrapped by ``make bench ARGS="..."``."""

from __future__ import annotations

import argparse
import functools
import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import Any

from rich.console import Console

from bench import ceiling, gclogs, inference, planted, printing, summary, truth, turns
from bench.peers import find_peers
from bench.records import RESULTS, ProbeCost, Results, write_results
from bench.rig import Rig
from sizebook.hosts.local import local_facts
from sizebook.lab.bench import opened_bench
from sizebook.lab.placement import place
from sizebook.model.errors import HostLacksError, TrialError, UserError
from sizebook.report.evidence import find_commit
from sizebook.store import Project, find_project
from sizebook.store.fingerprints import fingerprint_machine
from sizebook.store.lock import need_alone

PROBE_COST = "probe_cost"
BENCHMARKS: Mapping[str, Callable[[Rig], Any]] = {
    "ceiling": ceiling.run,
    "truth": truth.run,
    "summary": summary.run,
    "statistics": inference.run,
    "gc_logs": gclogs.run,
    "turns": turns.run,
    "planted": planted.run,
}
NAMES = (*BENCHMARKS, PROBE_COST)
PROBE_COST_TIMEOUT_S = 300.0


def main(words: Sequence[str]) -> int:
    """Run the benchmarks that are named (all if none is), store and show what was found."""
    given = parse(words)
    names = [name for name in NAMES if name in given.names or not given.names]
    console = Console(stderr=True)

    def tell(line: str) -> None:
        console.print(f"[dim]{time.strftime('%H:%M:%S')}[/dim] {line}", highlight=False)

    try:
        project = find_project()
        results = measure(project, names, short=given.short, tell=tell)
        some = () if names == list(NAMES) else names
        folder = project.state / "bench" if given.short else RESULTS
        path = write_results(results, some, folder)
    except UserError as error:
        console.print(f"make bench: {error}", style="red", highlight=False)
        return 1
    except KeyboardInterrupt:
        console.print("make bench: stopped; nothing is stored", style="red")
        return 130
    printing.show(results, Console())
    console.print(f"stored as {path.relative_to(project.root)}", highlight=False)
    if given.short:
        console.print("which is no part of the book: a short run is not", highlight=False)
    return 1 if results.failures else 0


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Return the options of the command line."""
    options = argparse.ArgumentParser(prog="make bench ARGS=...", description=__doc__)
    options.add_argument(
        "names", nargs="*", metavar="NAME", help=f"benchmarks: {', '.join(NAMES)} (default: all)"
    )
    options.add_argument(
        "--short", action="store_true", help="prove that it works in two minutes; not published"
    )
    given = options.parse_args(list(words))
    if unknown := [name for name in given.names if name not in NAMES]:
        options.error(f"no benchmark {unknown[0]!r}; there are {', '.join(NAMES)}")
    return given


def measure(
    project: Project, names: Sequence[str], *, short: bool, tell: Callable[[str], None]
) -> Results:
    """Return the results of the named benchmarks; one that fails does not stop the others."""
    placement = place()
    if not placement.separate:
        raise HostLacksError(
            found="one CPU",
            expected="two, one for the generator under test and one for the server",
            next_step="run the benchmarks on a machine with two CPUs or more",
        )
    peers, missing = find_peers(project.state / "peers", tell)
    made_utc = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    found: dict[str, Any] = {}
    failures: dict[str, str] = {}
    seconds: dict[str, float] = {}

    def attempt(name: str, call: Callable[[], Any]) -> None:
        began = time.monotonic()
        try:
            found[name] = call()
        except TrialError as error:
            tell(f"{name} failed: {error}")
            failures[name] = error.found
        seconds[name] = round(time.monotonic() - began, 1)

    machine = local_facts()
    versions = {"sizebook": version("sizebook"), "python": python_version()}
    versions |= {peer.name: peer.version for peer in peers.values()}
    with opened_bench(project, "make bench") as bench:
        need_alone(bench.alone, "benchmarks")
        work = project.state / "bench" / "work"
        rig = Rig(bench, work, placement, peers, short=short, tell=tell)
        for name in (name for name in names if name in BENCHMARKS):
            attempt(name, functools.partial(BENCHMARKS[name], rig))
        versions |= rig.versions
        rig.clean()
    if PROBE_COST in names:  # it holds the machine itself
        attempt(PROBE_COST, lambda: probe_cost(project.root, short=short, tell=tell))
    return Results(
        made_utc=made_utc,
        short=short,
        commit=find_commit(project.root),
        machine=machine,
        machine_sha256=fingerprint_machine(machine),
        generator_cpus=len(placement.generator[:1]),
        server_cpus=len(placement.stack[:1]),
        versions=versions,
        missing=missing,
        failures=failures,
        seconds=seconds,
        **found,
    )


def probe_cost(root: Path, *, short: bool, tell: Callable[[str], None]) -> ProbeCost | None:
    """Return what the benchmark of the probes prints, which runs by itself; None without it."""
    script = root / "bench" / "probe_cost.py"
    if not script.is_file():
        return None
    tell("cost of the probes")
    command = [sys.executable, str(script)]
    command += ["--rounds", "1", "--seconds", "2"] if short else ["--rounds", "5", "--seconds", "5"]
    done = subprocess.run(
        command,
        cwd=root,
        stdout=subprocess.PIPE,
        text=True,
        timeout=PROBE_COST_TIMEOUT_S,
        check=False,
    )
    try:
        found = json.loads(done.stdout)
        metrics = found.pop("metrics")
        return ProbeCost(
            metrics={name: float(value) for name, value in metrics.items() if value is not None},
            conditions=found["settings"] | found["versions"],
        )
    except (ValueError, KeyError, AttributeError) as error:
        raise TrialError(
            found=f"no result of the benchmark of the probes (exit code {done.returncode})",
            expected="one JSON object",
            next_step="run bench/probe_cost.py by itself and read what it says",
        ) from error


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
