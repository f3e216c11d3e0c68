"""Numbers from one bundle: each function turns a bundle into one of the registered metrics."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from sizebook.store import Bundle

Measure = Callable[[Bundle], float | None]


def runs(bundle: Bundle) -> pl.DataFrame:
    """Return one row a complete run of the scenario that began in the measured phase.

    Columns: ``iteration``, ``total_s`` (first start to last answer), ``requests``,
    ``received_bytes``, ``failed``. A run that began in the phase and ended in the drain counts:
    leaving it out would favour short runs. A run that was cut off does not.
    """
    expected = int(bundle.record.trial.load.settings.get("flights", 0)) + 1
    end = pl.col("start_ns") + pl.col("service_ns")
    return (
        bundle.requests.group_by("iteration")
        .agg(
            total_s=(end.max() - pl.col("start_ns").min()) / 1e9,
            requests=pl.len(),
            received_bytes=pl.col("received_bytes").sum(),
            failed=(pl.col("error").cast(pl.String) != "").sum(),
            phase=pl.col("phase").cast(pl.String).sort_by("intended_ns").first(),
        )
        .filter((pl.col("phase") == "measured") & (pl.col("requests") == expected))
        .drop("phase")
        .sort("iteration")
    )


def total_time_s(bundle: Bundle) -> float | None:
    """Return the median time of a run in seconds; None without a complete run."""
    return _maybe(runs(bundle)["total_s"].median())


def run_count(bundle: Bundle) -> float | None:
    """Return how many complete runs there were."""
    return float(runs(bundle).height)


def first_run_s(bundle: Bundle) -> float | None:
    """Return the time of the first run after a fresh start (of a conditioning bundle)."""
    table = runs(bundle)
    return _maybe(table["total_s"][0]) if table.height else None


def run_received_bytes(bundle: Bundle) -> float | None:
    """Return the bytes received in one run, mean over the runs."""
    return _maybe(runs(bundle)["received_bytes"].mean())


def throughput_per_s(bundle: Bundle) -> float | None:
    """Return the requests of the measured phase that succeeded, over its length, per second."""
    phase = bundle.record.execution.phase("measured")
    if phase is None:
        return None
    good = bundle.measured.filter(pl.col("error").cast(pl.String) == "").height
    return good / ((phase.end_ns - phase.begin_ns) / 1e9)


def failed_share(bundle: Bundle) -> float | None:
    """Return the share of the measured phase's requests that failed, in percent."""
    measured = bundle.measured
    if not measured.height:
        return None
    return 100.0 * measured.filter(pl.col("error").cast(pl.String) != "").height / measured.height


def latency_ms(quantile: float, name: str | None = None, column: str = "latency_ns") -> Measure:
    """Return a measure: a quantile of the latency (from intended start) in ms.

    ``name`` restricts it to requests of that name; ``column="service_ns"`` counts from the actual
    start instead.
    """

    def measure(bundle: Bundle) -> float | None:
        values = _of(bundle, name)[column].to_numpy()
        return float(np.quantile(values, quantile, method="higher")) / 1e6 if values.size else None

    return measure


def mean_bytes(column: str, name: str) -> Measure:
    """Return a measure: mean of ``body_bytes``, ``received_bytes`` or ``sent_bytes``."""

    def measure(bundle: Bundle) -> float | None:
        return _maybe(_of(bundle, name)[column].mean())

    return measure


def cpu_ms_per_request(role: str) -> Measure:
    """Return a measure: CPU time of a role's processes over the whole trial, by request, in ms.

    The whole trial, because the counters are read exactly before its first and after its last
    request; ``generator`` names the load generator.
    """

    def measure(bundle: Bundle) -> float | None:
        sources = pl.col("source").cast(pl.String)
        metric = pl.col("metric").cast(pl.String)
        cpu = bundle.counters.filter(
            sources.str.starts_with(f"process/{role}-") & metric.is_in(CPU_METRICS)
        )
        requests = bundle.requests.height
        if not cpu.height or not requests:
            return None
        spent = cpu.group_by("source", "metric").agg(
            s=pl.col("value").sort_by("time_ns").last() - pl.col("value").sort_by("time_ns").first()
        )
        return float(spent["s"].sum()) * 1e3 / requests

    return measure


CPU_METRICS = ("cpu_user_s", "cpu_system_s")


def _of(bundle: Bundle, name: str | None) -> pl.DataFrame:
    good = bundle.measured.filter(pl.col("error").cast(pl.String) == "")
    return good if name is None else good.filter(pl.col("name").cast(pl.String) == name)


def _maybe(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
