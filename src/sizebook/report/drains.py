"""A queue that is filled and drained: how long it took, what a message took, how it went.

The client tells the time (``locustfiles/messaging.py``): from the first ``start`` of a pass to the
end of its last ``state``. Everything else is the counters' word, from nodes, broker and machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import polars as pl

from sizebook.lab import Trial
from sizebook.lab.trials import Measure
from sizebook.report.counter_increase import greatest
from sizebook.report.limiter_kinds import Kind
from sizebook.report.phase_counters import Use, Window
from sizebook.store import Bundle
from sizebook.store.derived import derived

APP = "server/app-"
DRAINS: dict[str, type[pl.DataType]] = {
    "iteration": pl.Int64,
    "begin_ns": pl.Int64,
    "drain_s": pl.Float64,
}
_GOOD = 200


@derived("drains.drains")
def drains(bundle: Bundle) -> pl.DataFrame:
    """Return one row a whole drain that began in the measured phase: ``DRAINS``, in order.

    One that ended after the phase counts: leaving it out would favour short ones. One that was cut
    off, so that its consumers were never stopped, does not.
    """
    rows = bundle.columns
    parts = [
        pl.DataFrame(
            {
                "iteration": part["iteration"].astype(np.int64),
                "begin_ns": part["start_ns"],
                "end_ns": part["start_ns"] + part["service_ns"],
                "measured": part.has("phase", "measured"),
                "good": (part["status"] == _GOOD) & part.has("error", ""),
            }
        )
        .filter("good")
        .group_by("iteration")
        .agg(pl.col("begin_ns").min(), pl.col("end_ns").max(), pl.col("measured").all())
        for part in (rows.only("name", name) for name in ("start", "state", "stop"))
    ]
    start, state, stop = parts
    both = start.filter("measured").join(state, on="iteration", suffix="_state")
    return (
        both.join(stop, on="iteration", how="semi")
        .with_columns(drain_s=(pl.col("end_ns_state") - pl.col("begin_ns")) / 1e9)
        .sort("begin_ns")
        .select(pl.col(name).cast(kind) for name, kind in DRAINS.items())
    )


def drain_s(bundle: Bundle) -> float | None:
    """Return the median time of a drain in seconds; None without a whole one."""
    found = drains(bundle)["drain_s"].median()
    return float(found) if isinstance(found, int | float) else None


def drained_per_s(bundle: Bundle) -> float | None:
    """Return the messages of a drain over its median time, per second."""
    messages, time_s = bundle.record.trial.load.settings.get("messages"), drain_s(bundle)
    return int(messages) / time_s if messages is not None and time_s else None


def messages_stored(bundle: Bundle) -> float | None:
    """Return the messages that the nodes stored in the whole trial, by their own count."""
    return bundle.readings.rise(APP, "messages_total/stored")


def per_message(source: str, *metrics: str, label: str = "", scale: float = 1.0) -> Measure:
    """Return a measure: the rise of counters over the whole trial by message stored.

    So it holds what filling took as well. ``source`` is the beginning of the sources that are added
    up; so are all labels, unless one is named. None where a counter is missing or no message was
    stored. ``scale`` turns the unit into the one that is wanted.
    """

    named = [f"{metric}/{label}" if label else metric for metric in metrics]

    def measure(bundle: Bundle) -> float | None:
        rise, messages = bundle.readings.rise(source, *named), messages_stored(bundle)
        return scale * rise / messages if rise is not None and messages else None

    return measure


def cpu_ms_per_message(role: str) -> Measure:
    """Return a measure: CPU time of a role's processes by message stored, in ms."""
    return per_message(f"process/{role}-", "cpu_user_s", "cpu_system_s", scale=1e3)


most_busy = greatest(APP, "message_consumers/busy")
"""The most messages that any reading found under work at once in one node."""


def over_time(
    trials: Iterable[Trial],
    source: str,
    metric: str,
    *levels: str,
    every_s: float = 1.0,
    scale: float = 1.0,
) -> pl.DataFrame:
    """Return the readings of a gauge: the treatment's levels, ``replicate``, ``t_s``, ``value``.

    ``levels`` are columns that are there without any trial, too.

    ``t_s`` counts from the begin of the measured phase. ``source`` is the beginning of the sources,
    such as nodes; they are read ``every_s`` seconds, each at its own time, so those of one turn are
    added up, and a turn that lacks one is left out. ``metric`` is the name with its label.
    """
    parts = []
    for trial in trials:
        mark = trial.bundle.record.execution.phase("measured")
        if mark is None:
            continue
        t_s = (pl.col("time_ns") - mark.begin_ns) / 1e9
        found = (
            trial.bundle.counters.filter(
                pl.col("source").cast(pl.String).str.starts_with(source)
                & (pl.col("metric").cast(pl.String) == metric)
                & pl.col("value").is_not_null()
            )
            .select(pl.col("source").cast(pl.String), "value", t_s=t_s)
            .filter(pl.col("t_s") >= 0)
            .with_columns(turn=(pl.col("t_s") / every_s).floor().cast(pl.Int64))
            .group_by("source", "turn")
            .agg(pl.col("value", "t_s").last())
        )
        whole = found["source"].n_unique()
        summed = (
            found.group_by("turn")
            .agg(pl.col("t_s").mean(), pl.col("value").sum() * scale, sources=pl.len())
            .filter(pl.col("sources") == whole)
            .sort("turn")
        )
        own = [pl.lit(level).alias(name) for name, level in trial.treatment.items()]
        parts.append(
            summed.select(*own, pl.lit(trial.replicate).alias("replicate"), "t_s", "value")
        )
    kinds = (*(pl.Int64 for _ in levels), pl.Int32, pl.Float64, pl.Float64)
    schema = dict(zip((*levels, "replicate", "t_s", "value"), kinds, strict=True))
    return pl.concat(parts, how="vertical_relaxed") if parts else pl.DataFrame(schema=schema)


def _consumers(window: Window) -> Iterator[Use]:
    """Yield in how many of the readings messages waited for the consumers there were."""
    metric = pl.col("metric").cast(pl.String)
    server = window.bundle.counters.filter(
        pl.col("time_ns").is_between(window.begin_ns, window.end_ns)
        & pl.col("source").cast(pl.String).str.starts_with("server/")
        & pl.col("value").is_not_null()
    ).select("time_ns", "value", pl.col("source").cast(pl.String), metric=metric)
    every = server.filter((pl.col("metric") == "message_consumers/all") & (pl.col("value") > 0))
    depth = server.filter(pl.col("metric") == "queue_depth/work").rename({"value": "depth"})
    if not every.height or not depth.height:
        yield Use("consumers", "app", None, reason="no reading while the queue was drained")
        return
    inside = depth["source"].str.starts_with(APP).any()
    both = (
        every.sort("time_ns")
        .join_asof(
            depth.sort("time_ns").select("time_ns", "source", "depth"),
            on="time_ns",
            by="source" if inside else None,
            strategy="nearest",
            check_sortedness=False,
        )
        .drop_nulls("depth")
    )
    share = both.select((pl.col("depth") > 0).mean()).item()
    number = every.group_by("source").agg(pl.col("value").mean())["value"].sum()
    if share is None:
        yield Use("consumers", "app", None, reason="no depth of the queues that were drained")
        return
    yield Use("consumers", "app", float(share), {"all": float(number)}, both.height)


CONSUMERS = Kind(
    "consumers",
    label="Consumers of the {place}",
    subject="the number of consumers",
    evidence="messages waited for the {all:.0f} consumers in {share:.0%} of the readings",
    threshold=0.90,
    meaning="Readings of nodes with consumers in which messages were left in the queue, over all. "
    "A limit where nothing within is full: then each consumer waits for forced writes, and more "
    "of them drain faster.",
    measure=_consumers,
    by_gauge=True,
)
"""The kind of limiter that a queue brings along; to be told after all others."""
