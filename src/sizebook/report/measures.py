"""Numbers from one bundle: each function turns a bundle into one of the registered metrics.

Only requests that count make numbers: those of the measured phase, from the end of a warm-up on if
one reached into it (``checks.steady``).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from sizebook.checks.rules import DoesNotApply
from sizebook.checks.steady import counted, steady_of
from sizebook.stats.groups import Groups
from sizebook.store import Bundle
from sizebook.store.columns import RequestColumns

Measure = Callable[[Bundle], float | None]


def runs(bundle: Bundle) -> pl.DataFrame:
    """Return one row a complete run of the scenario that began when requests counted.

    Columns: ``iteration``, ``total_s`` (first start to last answer), ``requests``,
    ``received_bytes``, ``failed``. A run that began in the phase and ended in the drain counts:
    leaving it out would favour short runs. A run that was cut off does not.
    """
    rows = bundle.columns
    passes = Groups(rows["iteration"])
    start, intended = rows["start_ns"], rows["intended_ns"]
    begin_ns = passes.min(intended)
    counts = begin_ns == passes.min(intended, where=rows.has("phase", "measured"))
    counts &= begin_ns >= _begin(bundle)
    flights = bundle.record.trial.load.settings.get("flights")
    whole = int(flights) + 1 if flights is not None else passes.counts.max(initial=0)
    table = pl.DataFrame(
        {
            "iteration": passes.keys(),
            "total_s": (passes.max(start + rows["service_ns"]) - passes.min(start)) / 1e9,
            "requests": passes.counts,
            "received_bytes": passes.sum(rows["received_bytes"]),
            "failed": passes.sum(~rows.has("error", "")),
        }
    )
    return table.filter(counts & (passes.counts == whole))


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
        values = _of(bundle, name)[column]
        return float(np.quantile(values, quantile, method="higher")) / 1e6 if values.size else None

    return measure


def mean_bytes(column: str, name: str) -> Measure:
    """Return a measure: mean of ``body_bytes``, ``received_bytes`` or ``sent_bytes``."""

    def measure(bundle: Bundle) -> float | None:
        values = _of(bundle, name)[column]
        return float(values.mean()) if values.size else None

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
