"""GC logs: what it costs to read a million lines, beside a loop over lines with one pattern.

The logs are those that the tests keep, of each collector, repeated up to the length. Times are of
whole processes, start included. The peer is the loop that everybody writes first, and does less: it
finds pauses with their sizes, but no cycles, causes, stalls, tables of ZGC, cuts or restarts.
"""

from __future__ import annotations

import functools
import gzip
import json
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from bench.pairs import side_by_side
from bench.records import GcLogRun, GcLogs, Repeated
from bench.rig import Rig
from bench.summary import Spent, spend
from sizebook.model.errors import TrialError

KEPT = Path(__file__).resolve().parents[1] / "tests" / "gclog" / "data"
LOGS = ("g1-17", "parallel-25", "zgc-25", "shenandoah-17")
LINES, SHORT_LINES = 1_000_000, 20_000
ROUNDS, SHORT_ROUNDS = 5, 1
OURS, LOOP = "ours", "loop"
_PAUSE = re.compile(
    r"^\[(\d+\.\d+)s\].* GC\((\d+)\) (?:[yYoO]: )?"
    r"(Pause .*?)(?: (\d+)M->(\d+)M\((\d+)M\))? (\d+\.\d+)ms$"
)


def run(rig: Rig) -> GcLogs:
    """Write the logs, read each with both, remove them."""
    folder = rig.new_folder()
    lines = SHORT_LINES if rig.short else LINES
    rounds = SHORT_ROUNDS if rig.short else ROUNDS
    try:
        runs = []
        for name in LOGS:
            rig.tell(f"{lines:,} lines of {name}")
            path = write_log(folder, name, lines)
            pair: dict[str, Callable[[], Spent]] = {
                reader: functools.partial(_read, path, reader) for reader in (OURS, LOOP)
            }
            found = side_by_side(pair, rounds, rig.tell)
            runs.append(
                GcLogRun(
                    log=name,
                    lines=path.read_bytes().count(b"\n"),
                    size_mib=path.stat().st_size / 2**20,
                    ours_s=Repeated(values=tuple(one.wall_s for one in found[OURS])),
                    loop_s=Repeated(values=tuple(one.wall_s for one in found[LOOP])),
                    ours_peak_mib=max(one.peak_rss_mib for one in found[OURS]),
                )
            )
            path.unlink()
        return GcLogs(runs=tuple(runs))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_log(folder: Path, name: str, lines: int) -> Path:
    """Write one of the kept logs so often that it has at least so many lines."""
    raw = gzip.decompress((KEPT / f"{name}.log.gz").read_bytes())
    path = folder / f"{name}.log"
    with path.open("wb") as file:
        for _ in range(-(-lines // raw.count(b"\n"))):
            file.write(raw)
    return path


def read_ours(path: Path) -> int:
    """Return how many pauses our reader finds, after summing all up."""
    from sizebook.gclog import read_gc_log, summarise  # noqa: PLC0415 - the loop does without

    log = read_gc_log(path)
    summarise(log)
    return log.pauses.height


def read_by_loop(path: Path) -> int:
    """Return how many pauses a loop over lines finds."""
    rows = []
    with path.open(encoding="utf-8") as file:
        for line in file:
            match = _PAUSE.match(line)
            if match:
                at, number, name, before, after, total, took = match.groups()
                sizes = [int(size) if size else None for size in (before, after, total)]
                rows.append((float(at), int(number), name, *sizes, float(took)))
    return len(rows)


READERS = {OURS: read_ours, LOOP: read_by_loop}


def _read(path: Path, reader: str) -> Spent:
    spent, printed = spend([sys.executable, "-m", "bench.gclogs", str(path), reader])
    if not json.loads(printed):
        raise TrialError(
            found=f"no pause in {path.name}",
            expected="as many as the log has",
            next_step="see bench/gclogs.py: the kept logs no longer fit it",
        )
    return spent


if __name__ == "__main__":
    json.dump(READERS[sys.argv[2]](Path(sys.argv[1])), sys.stdout)
