"""A heap in a trial: what the collector did in it, by its log; how often it ran out, and when.

A node that ran out of memory and was started again has several *lives*, each with a heap and a GC
log of its own. The log tells collections and pauses, the trial's events tell the lives, and the
client what was acknowledged in each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from sizebook.gclog import GcLog, GcSummary, advise, summarise
from sizebook.lab import Trial, Trials
from sizebook.lab.trials import Measure
from sizebook.model.bundle import OUT_OF_MEMORY, START
from sizebook.report.gc_logs import gc_logs, gc_measure
from sizebook.store import Bundle
from sizebook.store.derived import derived

NODE = "app-1"
MIB = 1 << 20
STAGES: dict[str, type[pl.DataType]] = {
    "stage": pl.String,
    "per_s": pl.Float64,
    "overhead": pl.Float64,
    "collections_per_s": pl.Float64,
    "mean_pause_ms": pl.Float64,
}
STEPS: dict[str, type[pl.DataType]] = {
    "replicate": pl.Int64,
    "life": pl.String,
    "t_s": pl.Float64,
    "quantity": pl.String,
    "value": pl.Float64,
}


@dataclass(frozen=True)
class Life:
    """One start of a node within a trial. Times are CLOCK_MONOTONIC ns."""

    number: int
    """From 1 on."""
    heap_mib: int
    begin_ns: int
    """When the load began, or the node was started again."""
    ready_ns: int
    end_ns: int
    """When it ran out of memory, or the load was over."""
    said: str
    """What the JVM said when it ran out of memory; empty if it did not."""

    @property
    def name(self) -> str:
        """Which start it is, with its heap: ``1: 384 MiB``."""
        return f"{self.number}: {self.heap_mib} MiB"


def lives(bundle: Bundle, node: str = NODE) -> tuple[Life, ...]:
    """Return the lives of a node in a trial, in order; empty if the trial never ran."""
    execution, role = bundle.record.execution, node.rpartition("-")[0]
    deployed = next((r for r in bundle.record.trial.deployment.jvm_roles() if r.role == role), None)
    if not execution.phases or deployed is None:
        return ()
    begin_ns = ready_ns = execution.phases[0].begin_ns
    heap_mib, found, is_up = deployed.heap_mib, list[Life](), True
    for event in (one for one in execution.events if one.node == node):
        if event.action == START and event.heap_mib is not None:
            begin_ns, ready_ns, heap_mib, is_up = event.begin_ns, event.end_ns, event.heap_mib, True
        elif event.action == OUT_OF_MEMORY and is_up:
            number = len(found) + 1
            end_ns = event.begin_ns
            found.append(Life(number, heap_mib, begin_ns, ready_ns, end_ns, event.detail))
            is_up = False
    if is_up:
        end_ns = execution.phases[-1].end_ns
        found.append(Life(len(found) + 1, heap_mib, begin_ns, ready_ns, end_ns, ""))
    return tuple(found)


def gc_log(bundle: Bundle, life: int = 1, node: str = NODE) -> GcLog | None:
    """Return the log of a life's collector; None where the bundle does not have it.

    Of the first life it is the part that was written in this trial.
    """
    return gc_logs(bundle).get(node if life == 1 else f"{node}.{life}")


def summary(
    bundle: Bundle, begin_ns: int, end_ns: int, life: int = 1, node: str = NODE
) -> GcSummary | None:
    """Return what a log says of a window of time; None without a log."""
    log = gc_log(bundle, life, node)
    if log is None or end_ns <= begin_ns or log.first_ns is None:
        return None
    return summarise(log, begin_ns, end_ns)


def collections_per_s(found: GcSummary) -> float | None:
    """Return the collections a second of a window."""
    return found.collections / found.window_s if found.window_s else None


def longest_pause_ms(found: GcSummary) -> float | None:
    """Return the longest pause in ms; 0 where there was none."""
    if found.pauses == 0:
        return 0.0
    return None if found.longest_pause_ns is None else found.longest_pause_ns / 1e6


def advised_mib(overhead: float) -> Measure:
    """Return a measure: the heap that the log of the measured phase advises; None if it cannot."""

    def tell(found: GcSummary) -> float | None:
        size = advise(found, overhead).heap_bytes
        return None if size is None else size / MIB

    return gc_measure(tell)


def exhaustions(bundle: Bundle) -> float:
    """Return how often a node ran out of memory."""
    return float(sum(event.action == OUT_OF_MEMORY for event in bundle.record.execution.events))


@derived("heaps.answered")
def answered(bundle: Bundle, name: str, life: Life | None = None) -> np.ndarray:
    """Return when good answers of a name were complete, in order, in ns; of one life, or all."""
    good = bundle.columns.only("name", name).only("error", "")
    ends = np.sort(good["start_ns"] + good["service_ns"])
    if life is None:
        return ends
    return ends[(ends >= life.begin_ns) & (ends <= life.end_ns)]


def rate_per_s(ends_ns: np.ndarray) -> float | None:
    """Return how many a second from the first to the last; None for fewer than two."""
    if ends_ns.size < 2 or ends_ns[-1] <= ends_ns[0]:
        return None
    return float((ends_ns.size - 1) / (ends_ns[-1] - ends_ns[0]) * 1e9)


def stages(bundle: Bundle, name: str, last: int, of: int) -> pl.DataFrame:
    """Return how the first life began and how it ended, by what it acknowledged under a name.

    Of its first ``of`` answers, three rows: ``begin``, from a quarter to a half of them,
    ``before``, the ``last`` so many, and ``whole``, all; the last two until the end of a life that
    ran out of memory. Columns:
    ``stage``, ``per_s`` (answers a second), ``overhead`` (share of time in pauses),
    ``collections_per_s``, ``mean_pause_ms``. No row without twice that many answers.
    """
    alive = lives(bundle)
    ends = answered(bundle, name, alive[0])[:of] if alive else np.empty(0, dtype=np.int64)
    if ends.size < max(8, 2 * last):
        return pl.DataFrame(schema=STAGES)
    early = ends[ends.size // 4 : ends.size // 2 + 1]
    end_ns = alive[0].end_ns if alive[0].said else int(ends[-1])
    windows = {
        "begin": (early, int(early[-1])),
        "before": (ends[-last:], end_ns),
        "whole": (ends, end_ns),
    }
    rows = []
    for stage, (times, end_ns) in windows.items():
        found = summary(bundle, int(times[0]), end_ns)
        pause_ns = found.mean_pause_ns if found else None
        rows.append(
            {
                "stage": stage,
                "per_s": rate_per_s(np.append(times[:-1], end_ns)),
                "overhead": found.overhead_share if found else None,
                "collections_per_s": collections_per_s(found) if found else None,
                "mean_pause_ms": None if pause_ns is None else pause_ns / 1e6,
            }
        )
    return pl.DataFrame(rows, schema=STAGES)


def staged(trials: Trials, name: str, last: int, of: int) -> pl.DataFrame:
    """Return the ``stages`` of all trials that completed.

    Columns: the design's factors, ``replicate``, ``verdict``, ``bundle``, then those of ``stages``.
    """
    known = trials.frame()
    parts = [known.clear().join(pl.DataFrame(schema=STAGES), how="cross")]
    for trial in trials:
        if not trial.completed:
            continue
        mine = known.filter(pl.col("bundle") == trial.bundle.id)
        parts.append(mine.join(stages(trial.bundle, name, last, of), how="cross"))
    return pl.concat(parts)


@dataclass(frozen=True)
class Freed:
    """What the first collection of the whole heap found after everything was delivered."""

    peak_mib: float
    """Most that was in use before, garbage included."""
    left_mib: float
    """In use after it, less what was queued again meanwhile."""
    pause_ms: float
    usual_pause_ms: float
    """Median of the pauses before it."""


def freed_after(bundle: Bundle, name: str, delivered: str) -> Freed | None:
    """Return what became of delivered messages; None without a whole collection after delivery.

    ``name`` is that of the requests that queue ``bytes`` (a setting of the load) each, and
    ``delivered`` that of the first request after a delivery.
    """
    alive, over = lives(bundle), answered(bundle, delivered)
    if not alive or not over.size:
        return None
    life = alive[-1]
    log = gc_log(bundle, life.number)
    if log is None:
        return None
    found = log.collections.filter(pl.col("end_ns") >= life.begin_ns)
    after = found.filter((pl.col("begin_ns") > int(over[0])) & (pl.col("kind") == "full"))
    before = found.filter(pl.col("end_ns") <= int(over[0]))
    if not after.height or not before.height:
        return None
    first = after.row(0, named=True)
    ends = answered(bundle, name)
    queued = int(np.count_nonzero((ends > over[0]) & (ends <= first["begin_ns"])))
    size = int(bundle.record.trial.load.settings.get("bytes", MIB))
    peak, usual = before["before_bytes"].max(), before["pause_ns"].median()
    if not isinstance(peak, int | float) or not isinstance(usual, int | float):
        return None
    return Freed(
        peak / MIB,
        max(0.0, first["after_bytes"] - queued * size) / MIB,
        first["pause_ns"] / 1e6,
        usual / 1e6,
    )


def steps(trials: Sequence[Trial]) -> pl.DataFrame:
    """Return how heaps filled and what collecting them took: the levels, then ``STEPS``.

    Two points a collection: in use before and after it (``quantity`` ``used``), and one each of
    the heap's size (``total``) and of the overhead (``overhead``, percent: the pause over the time
    since the end of the last collection). ``t_s`` counts from the begin of the measured phase.
    """
    parts = []
    for trial in trials:
        mark = trial.bundle.record.execution.phase("measured")
        if mark is None:
            continue
        for life in lives(trial.bundle):
            log = gc_log(trial.bundle, life.number)
            if log is None or log.collections.is_empty():
                continue
            points = _points(log, max(life.begin_ns, mark.begin_ns), life.end_ns, mark.begin_ns)
            levels = [pl.lit(level).alias(name) for name, level in trial.treatment.items()]
            parts.append(
                points.select(
                    *levels,
                    pl.lit(trial.replicate, dtype=pl.Int64).alias("replicate"),
                    pl.lit(life.name).alias("life"),
                    "t_s",
                    "quantity",
                    "value",
                )
            )
    return pl.concat(parts, how="vertical_relaxed") if parts else pl.DataFrame(schema=STEPS)


def _points(log: GcLog, begin_ns: int, end_ns: int, zero_ns: int) -> pl.DataFrame:
    found = log.collections.filter(pl.col("end_ns").is_between(begin_ns, end_ns)).sort("end_ns")
    since_ns = pl.col("end_ns") - pl.col("end_ns").shift(1, fill_value=begin_ns)
    parts = [
        found.select(pl.col(time).alias("time_ns"), quantity=pl.lit(quantity), value=value)
        for time, quantity, value in (
            ("begin_ns", "used", pl.col("before_bytes") / MIB),
            ("end_ns", "used", pl.col("after_bytes") / MIB),
            ("end_ns", "total", pl.col("total_bytes") / MIB),
            ("end_ns", "overhead", 100 * pl.col("pause_ns") / since_ns),
        )
    ]
    return (
        pl.concat(parts)
        .with_columns(t_s=(pl.col("time_ns") - zero_ns) / 1e9)
        .drop_nulls()
        .sort("time_ns", maintain_order=True)
    )


def least_heap(frame: pl.DataFrame, overhead: float) -> tuple[float | None, str]:
    """Return the smallest heap (MiB) that keeps an overhead, and in words how it is known.

    ``frame`` has a row a heap: ``heap_mib``, ``mean`` overhead as a share. Between the two levels
    at which the overhead passes the criterion it is interpolated, both on logarithmic scales: by
    the pauses' model it falls about as one over the free room. Nothing is said beyond the levels.
    """
    levels = frame.drop_nulls("mean").sort("heap_mib")
    if not levels.height:
        return None, "no heap was measured"
    sizes, shares = levels["heap_mib"].to_list(), levels["mean"].to_list()
    if shares[-1] > overhead:
        return None, f"more than the largest heap measured, {sizes[-1]} MiB"
    at = max((n for n, share in enumerate(shares) if share > overhead), default=-1) + 1
    if at == 0:
        return float(sizes[0]), f"the smallest heap measured, {sizes[0]} MiB, keeps it already"
    low, high = (sizes[at - 1], shares[at - 1]), (sizes[at], max(shares[at], 1e-6))
    share = np.log(low[1] / overhead) / np.log(low[1] / high[1])
    size = float(np.exp(np.log(low[0]) + share * np.log(high[0] / low[0])))
    return size, f"between {low[0]} MiB ({low[1]:.1%}) and {high[0]} MiB ({high[1]:.1%})"
