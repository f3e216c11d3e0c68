"""Logs beside what the JVM that wrote them counted itself, as ``GcWork.java`` stores it."""

from __future__ import annotations

import gzip
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from sizebook.gclog import GcLog, read_gc_log

DATA = Path(__file__).parent / "data"
PROGRAM = Path(__file__).parent / "GcWork.java"
NAMES = sorted(path.stem for path in DATA.glob("*.json"))
FLAGS = {
    "serial": ["-XX:+UseSerialGC"],
    "parallel": ["-XX:+UseParallelGC"],
    "g1": ["-XX:+UseG1GC"],
    "zgc": ["-XX:+UseZGC"],
    "shenandoah": ["-XX:+UseShenandoahGC"],
    "genshen": ["-XX:+UseShenandoahGC", "-XX:ShenandoahGCMode=generational"],
}
DECORATIONS = "uptime,timenanos,level,tags"
MS = 1_000_000
MIB = 1 << 20


@dataclass(frozen=True)
class Recorded:
    """A log with its witness."""

    name: str
    raw: bytes
    log: GcLog
    said: dict[str, Any]

    @property
    def counted(self) -> pl.DataFrame:
        """The collections that had ended when the JVM's counters were read."""
        return self.log.collections.filter(pl.col("end_ns") <= self.said["read_ns"])


def recorded(name: str) -> Recorded:
    """Return one of the stored logs."""
    raw = gzip.decompress((DATA / f"{name}.log.gz").read_bytes())
    said = json.loads((DATA / f"{name}.json").read_text())
    return Recorded(name, raw, read_gc_log(raw), said)


def record(java: Path, flags: list[str], folder: Path, *words: str) -> Recorded:
    """Let a JVM work and return its log with its witness."""
    log, said = folder / "gc.log", folder / "said.json"
    logging = f"-Xlog:gc*,safepoint:file={log}:{DECORATIONS}:filecount=0"
    command = [str(java), "-Xms48m", "-Xmx48m", *flags, logging, str(PROGRAM), str(said), *words]
    subprocess.run(command, check=True, cwd=folder, capture_output=True, timeout=120)
    return Recorded(java.parent.parent.name, log.read_bytes(), read_gc_log(log),
                    json.loads(said.read_text()))  # fmt: skip


def check(found: Recorded, *, times: bool = True) -> int:
    """Check that the log tells what the JVM counted: collections, pauses, times, heap.

    Without ``times`` on a machine that may stop a thread between two readings of a clock. Returns
    how many collections flight recorder saw as well: it starts after the JVM.
    """
    check_counts(found, times=times)
    return check_each(found, times=times)


def check_counts(found: Recorded, *, times: bool) -> None:
    """The totals of the GarbageCollectorMXBeans are those of the log."""
    rows = found.counted
    pauses = found.log.pauses.filter(pl.col("end_ns") <= found.said["read_ns"])

    def of(frame: pl.DataFrame, *kinds: str) -> pl.DataFrame:
        return frame.filter(pl.col("kind").is_in(kinds))

    marks = pauses.filter(pl.col("name").is_in(["Remark", "Cleanup"]))
    tell: dict[str, tuple[int, int]] = {}
    for beans, frame in (
        (("Copy", "PS Scavenge", "G1 Young Generation"), of(rows, "young", "mixed")),
        (("MarkSweepCompact", "PS MarkSweep", "G1 Old Generation"), of(rows, "full")),
        (("G1 Concurrent GC", "ZGC Pauses", "Shenandoah Pauses"),
         marks if found.log.facts.collector == "G1" else pauses),
    ):  # fmt: skip
        tell |= dict.fromkeys(beans, (frame.height, int(frame["pause_ns"].sum())))
    tell["Shenandoah Cycles"] = (rows.height, 0)
    tell["ZGC Cycles"] = (of(rows, "concurrent cycle").height, 0)
    for size, kind in (("Minor", "concurrent young"), ("Major", "concurrent cycle")):
        frame = of(rows, kind)
        tell[f"ZGC {size} Cycles"] = (frame.height, 0)
        tell[f"ZGC {size} Pauses"] = (int(frame["pauses"].sum()), int(frame["pause_ns"].sum()))
    if not times and "ZGC Major Pauses" in tell and "ZGC Major Pauses" in found.said["beans"]:
        # HotSpot has one flag for all cycles (zServiceability.cpp, minor_is_active): a pause counts
        # as a minor's or a major's by whichever began or ended last; only their sum is sure. Whose
        # each pause was is compared with flight recorder, by the collection's number.
        minor, major = ("ZGC Minor Pauses", "ZGC Major Pauses")
        moved = tell[major][0] - found.said["beans"][major]["count"]
        assert -tell[minor][0] <= moved <= tell[major][0], (found.name, moved)
        tell |= {minor: (tell[minor][0] + moved, 0), major: (tell[major][0] - moved, 0)}
    for bean, said in found.said["beans"].items():
        count, pause_ns = tell[bean]
        assert count == said["count"], (found.name, bean)
        if times and not bean.endswith("Cycles"):
            # a bean's clock stops a little after or before the log's, by what the log itself takes
            assert abs(pause_ns / MS - said["ms"]) <= 1 + 0.05 * said["ms"] + 0.3 * count, bean
    assert found.log.out_of_memory.height <= found.said["out_of_memory"] * 2
    stalled = found.log.stalls.filter(pl.col("kind") == "allocation stall")
    counted = stalled.filter(pl.col("end_ns") <= found.said["read_ns"])
    if (began_ns := found.said.get("began_ns")) is None:
        assert counted.height == found.said["stalls"], found.name
    else:  # flight recorder starts after the JVM and ends after the counters were read
        sure = counted.filter(pl.col("end_ns") - pl.col("stalled_ns") >= began_ns).height
        assert sure <= found.said["stalls"] <= stalled.height, found.name


def check_each(found: Recorded, *, times: bool) -> int:
    """Each collection's pauses and heap are those that flight recorder saw."""
    rows = {row["id"]: row for row in found.log.collections.iter_rows(named=True)}
    compared = 0
    for number, said in found.said["collections"].items():
        row = rows.get(int(number))
        if row is None or row["end_ns"] > found.said["read_ns"] or "cause" not in said:
            continue
        compared += 1
        where = (found.name, number, row["kind"], row["name"], row["cause"], said["cause"])
        assert row["pauses"] == said.get("pauses", 0), where
        # the log rounds to microseconds; its clock surrounds recorder's or lies within it
        near = 0.5 * MS + 0.1 * said.get("pauses_ns", 0)
        assert not times or abs(row["pause_ns"] - said.get("pauses_ns", 0)) <= near, where
        if said["cause"] in ("System.gc()", "Allocation Failure", "Allocation Stall"):
            assert row["cause"] == said["cause"], where
        assert row["is_explicit"] == (said["cause"] == "System.gc()"), where
        if row["kind"] in ("young", "mixed", "full", "degenerated") or row["name"].startswith("("):
            assert is_near(row["after_bytes"], said["after_bytes"]), where
        if row["kind"] in ("young", "mixed", "full"):
            # G1 first gives back what threads had reserved: up to a region
            assert is_near(row["before_bytes"], said["before_bytes"], 2 * MIB), where
    return compared


def is_near(told: int, said: int, slack: int = MIB) -> bool:
    """Return whether a size is right, by the unit that the log has it in: KiB of each of two
    generations, or whole MiB."""
    return abs(told - said) <= (2 * 1024 if told % MIB else slack)
