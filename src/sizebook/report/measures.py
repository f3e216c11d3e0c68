"""Numbers from one bundle: each function turns a bundle into one of the registered metrics.

Only requests that count make numbers: those of the measured phase, from the end of a warm-up on if
one reached into it (``checks.steady``).
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sizebook.checks.facts import ordered, passes_of
from sizebook.checks.rules import DoesNotApply
from sizebook.checks.steady import counted, steady_of
from sizebook.lab.trials import Measure
from sizebook.report.counter_increase import rise_per_request, risen
from sizebook.report.phase_counters import open_window
from sizebook.store import Bundle
from sizebook.store.columns import RequestColumns
from sizebook.store.derived import derived
from sizebook.store.readings import Statistic

_CPU = ("cpu_user_s", "cpu_system_s")


def runs(bundle: Bundle) -> pl.DataFrame:
    """Return one row a complete run of the scenario that began when requests counted.

    Columns: ``iteration``, ``total_s`` (first start to last answer), ``requests``,
    ``received_bytes``, ``failed``. A run that began in the phase and ended in the drain counts:
    leaving it out would favour short runs. A run that was cut off does not.
    """
    rows, begin_ns = bundle.columns, _begin(bundle)
    flights = bundle.record.trial.load.settings.get("flights")
    whole = int(flights) + 1 if isinstance(flights, int) else None  # or an argument of that name
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


@derived("total_time_s")
def total_time_s(bundle: Bundle) -> float | None:
    """Return the median time of a run in seconds; None without a complete run."""
    return _maybe(runs(bundle)["total_s"].median())


@derived("run_received_bytes")
def run_received_bytes(bundle: Bundle) -> float | None:
    """Return the bytes received in one run, mean over the runs."""
    return _maybe(runs(bundle)["received_bytes"].mean())


def throughput_per_s(bundle: Bundle) -> float | None:
    """Return the requests that count and succeeded, over the time in which they did, per second."""
    return rate_per_s(None)(bundle)


def rate_per_s(name: str | None) -> Measure:
    """Return a measure: ``throughput_per_s`` of the requests of one name alone."""

    @derived("rate_per_s", name)
    def measure(bundle: Bundle) -> float | None:
        phase = bundle.record.execution.phase("measured")
        if phase is None:
            return None
        good = _of(bundle, name).height
        return good / ((phase.end_ns - max(phase.begin_ns, _begin(bundle))) / 1e9)

    return measure


@derived("failed_share")
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

    @derived("latency_ms", quantile, name, column)
    def measure(bundle: Bundle) -> float | None:
        rows = _of(bundle, name)
        return ordered(rows, column).higher(quantile) / 1e6 if rows.height else None

    return measure


@derived("mean_latency_ms")
def mean_latency_ms(bundle: Bundle) -> float | None:
    """Return the mean latency (from intended start) of the requests that count, in ms."""
    rows = _of(bundle, None)
    total = sum(int(part.sum(dtype=np.int64)) for part in rows.in_blocks("latency_ns"))
    return total / rows.height / 1e6 if rows.height else None


def mean_bytes(column: str, name: str) -> Measure:
    """Return a measure: mean of ``body_bytes``, ``received_bytes`` or ``sent_bytes``."""

    @derived("mean_bytes", column, name)
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
    return rise_per_request(f"process/{role}-", *_CPU, scale=1e3)


def rise_in_phase(source: str, *metrics: str, by: tuple[str, str]) -> Measure:
    """Return a measure: how much counters rose in the measured phase, by the rise of another one.

    ``source`` is the beginning of the sources that are added up, ``metrics`` are names without
    labels, all of which count; ``by`` is source and metric of the counter of what is done, such as
    documents. Each side is taken between the readings nearest to the phase, as a rate: a warm-up is
    left out. None where a counter is missing or was not read often enough.
    """

    def measure(bundle: Bundle) -> float | None:
        if (window := open_window(bundle)) is None:
            return None
        done = window.total_growth(*by)
        risen = [window.total_growth(source, metric) for metric in metrics]
        told = [one.per_s for one in risen if one is not None]
        if done is None or done.total <= 0 or len(told) < len(risen):
            return None
        return sum(told) / done.per_s

    return measure


def level(source: str, metric: str, how: Statistic = "mean") -> Measure:
    """Return a measure: mean, least or greatest level of a gauge while requests counted.

    ``source`` is the beginning of the sources and ``metric`` the gauge's name, without a label all
    of its labels; the levels of several, such as nodes or spaces of a heap, are added up. None if
    one of them has no reading in that time.
    """

    def measure(bundle: Bundle) -> float | None:
        phase = bundle.record.execution.phase("measured")
        if phase is None:
            return None
        begin_ns = max(phase.begin_ns, _begin(bundle))
        return bundle.readings.level(source, metric, begin_ns, phase.end_ns, how)

    return measure


def at_end(source: str, metric: str) -> Measure:
    """Return a measure: a gauge's last reading, which is made right after the load.

    ``source`` and ``metric`` as for :func:`level`; the readings of several are added up. None if
    none was made. For what is too dear to be read while requests are under way.
    """

    return lambda bundle: bundle.readings.last(source, metric)


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
    spent = [risen(prefix, *_CPU)(bundle) for prefix in prefixes]
    wall_s = max((_read_for_s(bundle, prefix) for prefix in prefixes), default=0.0)
    if None in spent or wall_s <= 0:
        return None
    return 100.0 * sum(one for one in spent if one is not None) / wall_s / cpus


def _read_for_s(bundle: Bundle, prefix: str) -> float:
    """Return the seconds between first and last reading of processes' CPU times."""
    read = [one.times_ns for one in bundle.readings.find(prefix, _CPU[0])]
    return float(np.ptp(np.concatenate(read))) / 1e9 if read else 0.0


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
