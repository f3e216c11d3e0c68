"""Numbers from one bundle: each function turns a bundle into one of the registered metrics.

Only requests that count make numbers: those of the measured phase, from the end of a warm-up on if
one reached into it (``checks.steady``).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from sizebook.checks.facts import ordered, passes_of
from sizebook.checks.rules import DoesNotApply
from sizebook.checks.steady import counted, steady_of
from sizebook.store import Bundle
from sizebook.store.columns import RequestColumns

Measure = Callable[[Bundle], float | None]


def runs(bundle: Bundle) -> pl.DataFrame:
    """Return one row a complete run of the scenario that began when requests counted.

    Columns: ``iteration``, ``total_s`` (first start to last answer), ``requests``,
    ``received_bytes``, ``failed``. A run that began in the phase and ended in the drain counts:
    leaving it out would favour short runs. A run that was cut off does not.
    """
    rows, begin_ns = bundle.columns, _begin(bundle)
    flights = bundle.record.trial.load.settings.get("flights")
    whole = None if flights is None else int(flights) + 1
    return rows.once(("runs", begin_ns, whole), (), lambda: _runs(rows, begin_ns, whole))


def _runs(rows: RequestColumns, counted_ns: int, whole: int | None) -> pl.DataFrame:
    """Return the runs of ``whole`` requests, or as many as the longest has, from a time on."""
    passes = passes_of(rows)
    start, intended = rows["start_ns"], rows["intended_ns"]
    begin_ns = passes.min(intended)
    start_ns = begin_ns if rows.same("start_ns", "intended_ns") else passes.min(start)
    counts = begin_ns == passes.min(intended, where=rows.has("phase", "measured"))
    counts &= begin_ns >= counted_ns
    counts &= passes.counts == (passes.counts.max(initial=0) if whole is None else whole)
    table = pl.DataFrame(
        {
            "iteration": passes.keys(),
            "total_s": (passes.max(start, plus=rows["service_ns"]) - start_ns) / 1e9,
            "requests": passes.counts,
            "received_bytes": passes.sum(rows["received_bytes"]),
            "failed": passes.sum(~rows.has("error", "")),
        }
    )
    return table.filter(counts)


def total_time_s(bundle: Bundle) -> float | None:
    """Return the median time of a run in seconds; None without a complete run."""
    return _maybe(runs(bundle)["total_s"].median())


def run_received_bytes(bundle: Bundle) -> float | None:
    """Return the bytes received in one run, mean over the runs."""
    return _maybe(runs(bundle)["received_bytes"].mean())


def throughput_per_s(bundle: Bundle) -> float | None:
    """Return the requests that count and succeeded, over the time in which they did, per second."""
    phase = bundle.record.execution.phase("measured")
    if phase is None:
        return None
    good = counted(bundle).only("error", "").height
    return good / ((phase.end_ns - max(phase.begin_ns, _begin(bundle))) / 1e9)


def failed_share(bundle: Bundle) -> float | None:
    """Return the share of the requests that count that failed, in percent."""
    measured = counted(bundle)
    if not measured.height:
        return None
    failed = measured.height - measured.only("error", "").height
    return 100.0 * failed / measured.height


def latency_ms(quantile: float, name: str | None = None, column: str = "latency_ns") -> Measure:
    """Return a measure: a quantile of the latency (from intended start) in ms.

    ``name`` restricts it to requests of that name; ``column="service_ns"`` counts from the actual
    start instead.
    """

    def measure(bundle: Bundle) -> float | None:
        rows = _of(bundle, name)
        return ordered(rows, column).higher(quantile) / 1e6 if rows.height else None

    return measure


def mean_bytes(column: str, name: str) -> Measure:
    """Return a measure: mean of ``body_bytes``, ``received_bytes`` or ``sent_bytes``."""

    def measure(bundle: Bundle) -> float | None:
        rows = _of(bundle, name)
        total = sum(int(part.sum(dtype=np.int64)) for part in rows.in_blocks(column))
        return total / rows.height if rows.height else None

    return measure


def cpu_ms_per_request(role: str) -> Measure:
    """Return a measure: CPU time of a role's processes over the whole trial, by request, in ms.

    The whole trial, because the counters are read exactly before its first and after its last
    request; ``generator`` names the load generator.
    """

    def measure(bundle: Bundle) -> float | None:
        cpu = _cpu_readings(bundle, f"process/{role}-")
        requests = bundle.columns.height
        return _growth(cpu) * 1e3 / requests if cpu.height and requests else None

    return measure


def stack_cpu_share(bundle: Bundle) -> float | None:
    """Return how busy the stack kept its CPUs over the whole trial, in percent.

    CPU time of all its processes over wall time and the number of CPUs they may use.
    """
    roles = bundle.record.trial.deployment.roles
    cpus = {cpu for role in roles for cpu in role.cpus}
    prefixes = [f"process/{role.role}-" for role in roles]
    return _share(bundle, prefixes, len(cpus) or bundle.record.machine.logical_cpus)


def generator_cpu_share(bundle: Bundle) -> float | None:
    """Return how busy the load generator kept its CPUs over the whole trial, in percent."""
    facts = bundle.record.generator
    cpus = len(bundle.record.trial.load.cpus) or bundle.record.machine.logical_cpus
    if facts is None or facts.wall_s <= 0:
        return None
    return 100.0 * facts.cpu_s / facts.wall_s / cpus


def _share(bundle: Bundle, prefixes: list[str], cpus: int) -> float | None:
    spent, wall = 0.0, 0.0
    for prefix in prefixes:
        cpu = _cpu_readings(bundle, prefix)
        if not cpu.height:
            return None
        spent += _growth(cpu)
        times = cpu["time_ns"].to_numpy()
        wall = max(wall, float(np.ptp(times)) / 1e9)
    return 100.0 * spent / wall / cpus if wall > 0 else None


def _cpu_readings(bundle: Bundle, prefix: str) -> pl.DataFrame:
    return bundle.counters.filter(
        pl.col("source").cast(pl.String).str.starts_with(prefix)
        & pl.col("metric").cast(pl.String).is_in(["cpu_user_s", "cpu_system_s"])
        & pl.col("value").is_not_null()
    )


def _growth(readings: pl.DataFrame) -> float:
    """Return by how much cumulative counters grew from first to last reading, summed."""
    value = pl.col("value").sort_by("time_ns")
    grown = readings.group_by("source", "metric", maintain_order=True).agg(
        grown=value.last() - value.first()
    )
    return float(grown["grown"].sum())


def _of(bundle: Bundle, name: str | None) -> RequestColumns:
    good = counted(bundle).only("error", "")
    return good if name is None else good.only("name", name)


def _begin(bundle: Bundle) -> int:
    """Return from when on requests count, 0 where nothing was measured."""
    try:
        return steady_of(bundle).crop_ns
    except DoesNotApply:
        return 0


def _maybe(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
