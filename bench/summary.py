"""Summary: what it costs to turn a bundle of millions of requests into a chapter's numbers.

Bundles of 1, 10 and 30 million requests, each summarised in fresh processes; one of them beside
JMeter's dashboard generator, round by round. Times are of whole processes, start included.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.pairs import side_by_side
from bench.records import Repeated, Summary, SummaryRun
from bench.rig import Rig
from bench.summarise import MEASURES
from sizebook.checks import RULES
from sizebook.model.errors import TrialError

SIZES, SHORT_SIZES = (1_000_000, 10_000_000, 30_000_000), (60_000, 200_000)
BESIDE, SHORT_BESIDE = 10_000_000, 200_000
SAMPLES, SHORT_SAMPLES = 600_000, 20_000
ROUNDS, SHORT_ROUNDS = 5, 1
ROUNDS_ALONE = 3
"""Of the sizes that are compared with nothing but one another."""
PEER = "JMeter's dashboard"


@dataclass(frozen=True)
class Spent:
    """What one process took."""

    wall_s: float
    cpu_s: float
    peak_rss_mib: float


def run(rig: Rig) -> Summary:
    """Write the bundles, summarise them, remove them."""
    folder = rig.new_folder()
    try:
        return _measure(rig, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _measure(rig: Rig, folder: Path) -> Summary:
    sizes = SHORT_SIZES if rig.short else SIZES
    beside = SHORT_BESIDE if rig.short else BESIDE
    samples = SHORT_SAMPLES if rig.short else SAMPLES
    rounds = SHORT_ROUNDS if rig.short else ROUNDS
    for size in sizes:
        rig.tell(f"writing a bundle of {size:,} requests")
        spend([sys.executable, "-m", "bench.synthetic", str(folder), str(size)])
    calls: dict[str, Callable[[], Spent]] = {
        f"{size:,} requests": functools.partial(_summarise, folder, size) for size in sizes
    }
    pair = {name: call for name, call in calls.items() if name == f"{beside:,} requests"}
    jmeter = rig.peers.get("jmeter")
    if jmeter is not None:
        rig.tell(f"writing {samples:,} samples for JMeter")
        spend([sys.executable, "-m", "bench.synthetic", str(folder), str(samples), "--csv"])
        pair[PEER] = functools.partial(_dashboard, jmeter.command, folder)
    alone = {name: call for name, call in calls.items() if name not in pair}
    found = side_by_side(pair, rounds, rig.tell) | side_by_side(
        alone, min(rounds, ROUNDS_ALONE), rig.tell
    )
    dashboard = found.get(PEER)
    return Summary(
        runs=tuple(
            SummaryRun(
                requests=size,
                wall_s=_repeated(found[f"{size:,} requests"], "wall_s"),
                cpu_s=_repeated(found[f"{size:,} requests"], "cpu_s"),
                peak_rss_mib=_repeated(found[f"{size:,} requests"], "peak_rss_mib"),
            )
            for size in sizes
        ),
        measures=len(MEASURES),
        checks=len(RULES),
        beside_requests=beside,
        dashboard_samples=samples if dashboard else None,
        dashboard_wall_s=_repeated(dashboard, "wall_s") if dashboard else None,
        dashboard_cpu_s=_repeated(dashboard, "cpu_s") if dashboard else None,
    )


def _summarise(folder: Path, size: int) -> Spent:
    spent, printed = spend(
        [sys.executable, "-m", "bench.summarise", str(folder / f"made-up-{size}")]
    )
    found = json.loads(printed)
    if found["requests"] != size or None in found["measures"].values():
        missing = [name for name, value in found["measures"].items() if value is None]
        raise TrialError(
            found=f"a summary of {found['requests']} requests without {missing or 'nothing'}",
            expected=f"every measure of {size} requests",
            next_step="see bench/synthetic.py: what it makes up no longer fits the measures",
        )
    return spent


def _dashboard(command: Sequence[str], folder: Path) -> Spent:
    report = folder / "report"
    shutil.rmtree(report, ignore_errors=True)
    words = ["-g", str(folder / "samples.csv"), "-o", str(report), "-j", str(folder / "jmeter.log")]
    spent, printed = spend([*command, *words], folder)
    if not (report / "index.html").is_file():
        raise TrialError(
            found=f"no dashboard of JMeter; it printed {printed[-200:]!r}",
            expected="index.html",
            next_step="remove JMeter's folder below .sizebook/peers and run again",
        )
    return spent


def spend(command: Sequence[str], cwd: Path | None = None) -> tuple[Spent, str]:
    """Run a command to its end; return what it took and what it printed.

    Raises TrialError if it fails.
    """
    with tempfile.TemporaryFile("w+") as printed, tempfile.TemporaryFile("w+") as errors:
        began = time.perf_counter()
        process = subprocess.Popen(list(command), stdout=printed, stderr=errors, cwd=cwd)
        try:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        finally:
            if process.returncode is None:
                process.kill()
                process.wait()
        wall_s = time.perf_counter() - began
        for stream in (printed, errors):
            stream.seek(0)
        words = errors.read().strip().splitlines()
        if process.returncode != 0:
            raise TrialError(
                found=f"{Path(command[0]).name} ended with {process.returncode}: {words[-1:]}",
                expected="a run that ends in good order",
                next_step="run the benchmark again",
            )
        spent = Spent(wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
        return spent, printed.read()


def _repeated(spent: Sequence[Spent], what: str) -> Repeated:
    return Repeated(values=tuple(float(getattr(each, what)) for each in spent))
