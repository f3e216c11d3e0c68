"""What became of a load while the host under it was given CPUs, and lost them again.

Times are seconds from the begin of the measured phase. Latencies are of the requests that fell due
between two times, from their due times on: a backlog is in them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import altair as alt
import numpy as np
import polars as pl
from numpy.typing import NDArray

from sizebook.lab import Trial
from sizebook.lab.trials import Measure
from sizebook.model.bundle import StackEvent
from sizebook.report.charts import panels
from sizebook.report.columns import named_plainly
from sizebook.report.gc_logs import gc_logs
from sizebook.report.theme import PALETTE, treatment_scale
from sizebook.store import Bundle
from sizebook.store.columns import RequestColumns
from sizebook.store.derived import derived
from sizebook.store.readings import TimeSeries, steps

_CPU = "cgroup_cpu_s"
_PANEL_PX = 130
_PANEL_WIDTH_PX = 620
_MARKS = ["CPUs added", "CPUs taken away"]


def resizes(bundle: Bundle) -> list[StackEvent]:
    """Return when a host was resized within the measured phase, in order of time.

    What was set as the phase began is no change, and not among them.
    """
    planned = [one.at_s for one in bundle.record.trial.planned() if one.action == "resize"]
    events = [event for event in bundle.record.execution.events if event.action == "resize"]
    return [event for at_s, event in zip(sorted(planned), events, strict=False) if at_s > 0]


def latency_due_ms(begin_s: float, end_s: float, how: float | Literal["mean"]) -> Measure:
    """Return a measure: mean or quantile of the latency of what fell due between two times, in ms.

    None without a good answer to any of it.
    """

    @derived("resizing.latency_due_ms", begin_s, end_s, how)
    def measure(bundle: Bundle) -> float | None:
        due_s, latency_ms = _good(bundle)
        inside = latency_ms[(due_s >= begin_s) & (due_s < end_s)]
        if not inside.size:
            return None
        return float(inside.mean() if how == "mean" else np.quantile(inside, how, method="higher"))

    return measure


def waiting_at(at_s: float) -> Measure:
    """Return a measure: requests that were due and not answered at a time."""

    @derived("resizing.waiting_at", at_s)
    def measure(bundle: Bundle) -> float | None:
        due_s, latency_ms = _good(bundle)
        return float(np.count_nonzero((due_s < at_s) & (due_s + latency_ms / 1e3 >= at_s)))

    return measure


def settled_s(from_s: float, until_s: float, limit_ms: float, width_s: float = 0.25) -> Measure:
    """Return a measure: seconds from a time until requests are answered within a limit again.

    Time is cut into windows; the answer is the begin of the first window from which on the mean
    latency of what falls due is at most ``limit_ms`` in every window, until ``until_s``. None if
    there is no such window.
    """

    @derived("resizing.settled_s", from_s, until_s, limit_ms, width_s)
    def measure(bundle: Bundle) -> float | None:
        due_s, latency_ms = _good(bundle)
        inside = (due_s >= from_s) & (due_s < until_s)
        window = ((due_s[inside] - from_s) / width_s).astype(np.int64)
        if not window.size:
            return None
        sums = np.bincount(window, weights=latency_ms[inside])
        late = np.flatnonzero(sums > limit_ms * np.bincount(window))
        first = int(late[-1]) + 1 if late.size else 0
        return first * width_s if first <= int(window.max()) else None

    return measure


@derived("resizing.failures")
def failures(bundle: Bundle) -> float:
    """Return how many requests failed, all phases, and passes that were due and never started."""
    facts = bundle.record.generator
    rows = bundle.columns
    failed = rows.height - rows.only("error", "").height
    return float(failed + (facts.dropped if facts is not None else 0))


def cpus_between(host: str, begin_s: float, end_s: float) -> Measure:
    """Return a measure: CPUs' worth of time that a host took of this machine between two times.

    Between the readings nearest to these; None where there are no two.
    """

    def measure(bundle: Bundle) -> float | None:
        found = _readings(bundle, f"cgroup/{host}", _CPU)
        begin_ns = _begin_ns(bundle)
        ends = (begin_ns + round(at_s * 1e9) for at_s in (begin_s, end_s))
        rise = None if found is None else found.rise_near(*ends)
        return rise.per_s if rise is not None and rise.is_whole else None

    return measure


def used_more_s(host: str, cpus: float) -> Measure:
    """Return a measure: seconds from the first resize until a host is seen to use more than that.

    It is the end of the first interval between two readings in which it did; None if it never did.
    """

    def measure(bundle: Bundle) -> float | None:
        course = cpu_course(bundle, host)
        events = resizes(bundle)
        if not events:
            return None
        at_s = _since(bundle, events[0].begin_ns)
        later = course.filter((pl.col("begin_s") >= at_s) & (pl.col("cpus") > cpus))
        return float(later["end_s"][0]) - at_s if later.height else None

    return measure


def noticed_s(source: str, metric: str) -> Measure:
    """Return a measure: seconds from the first resize to the first reading that is another one.

    None if the reading never changes, or nothing was resized.
    """

    def measure(bundle: Bundle) -> float | None:
        events = resizes(bundle)
        found = _readings(bundle, source, metric)
        if not events or found is None:
            return None
        before = found.times_ns <= events[0].begin_ns
        if not before.any():
            return None
        changed = found.times_ns[~before & (found.values != found.values[before][-1])]
        return (int(changed[0]) - events[0].begin_ns) / 1e9 if changed.size else None

    return measure


def reading_between(source: str, metric: str, begin_s: float, end_s: float) -> Measure:
    """Return a measure: the last reading of a gauge between two times; None without one."""

    def measure(bundle: Bundle) -> float | None:
        found = _readings(bundle, source, metric)
        if found is None:
            return None
        seconds = (found.times_ns - _begin_ns(bundle)) / 1e9
        inside = found.values[(seconds >= begin_s) & (seconds < end_s)]
        return float(inside[-1]) if inside.size else None

    return measure


def gc_threads(node: str) -> Measure:
    """Return a measure: most threads that a node's collector could give to a task.

    G1 says it at each collection; None of other collectors, and without a collection.
    """

    def measure(bundle: Bundle) -> float | None:
        log = gc_logs(bundle).get(node)
        most = None if log is None else log.workers["most"].max()
        return float(most) if isinstance(most, int) else None

    return measure


def cpu_course(bundle: Bundle, host: str) -> pl.DataFrame:
    """Return ``begin_s``, ``end_s``, ``cpus``: what a host took between each two readings."""
    found = _readings(bundle, f"cgroup/{host}", _CPU)
    values = np.empty(0) if found is None else found.values
    times = np.empty(0) if found is None else (found.times_ns - _begin_ns(bundle)) / 1e9
    return pl.DataFrame(
        {
            "begin_s": times[:-1],
            "end_s": times[1:],
            "cpus": steps(values[:-1], values[1:]) / np.diff(times),
        }
    )


def course(trials: Sequence[Trial], factor: str, host: str, width_s: float = 0.25) -> pl.DataFrame:
    """Return what clients and host went through, by windows of time.

    One row a trial, window and quantity: ``factor``'s level, ``replicate``, ``t_s`` (begin of the
    window), ``what`` (``latency``: mean in ms of what fell due; ``answers`` per second; ``cpus``
    that the host took), ``value``. A failed trial has none.
    """
    parts = []
    for trial in trials:
        if not trial.completed:
            continue
        bundle = trial.bundle
        length_s, edges = bundle.record.trial.load.phases.measured_s, _edges(bundle, width_s)
        mean_ms, ended = _client_course(bundle, width_s)
        used = cpu_course(bundle, host)
        for what, t_s, value in (
            ("latency", edges[:-1], mean_ms),
            ("answers", edges[:-1], ended / width_s),
            ("cpus", used["begin_s"].to_numpy(), used["cpus"].to_numpy()),
        ):
            frame = pl.DataFrame({"t_s": t_s, "value": value}).fill_nan(None).drop_nulls()
            parts.append(
                frame.filter(pl.col("t_s").is_between(0.0, length_s)).select(
                    pl.lit(str(trial.treatment[factor])).alias(factor),
                    pl.lit(trial.replicate).alias("replicate"),
                    "t_s",
                    pl.lit(what).alias("what"),
                    pl.col("value").cast(pl.Float64),
                )
            )
    schema = {factor: pl.String, "replicate": pl.Int32, "t_s": pl.Float64, "what": pl.String,
              "value": pl.Float64}  # fmt: skip
    return pl.concat(parts, how="vertical_relaxed") if parts else pl.DataFrame(schema=schema)


@named_plainly("factor")
def course_chart(
    frame: pl.DataFrame, *, factor: str, series_title: str, marks_s: Sequence[float]
) -> alt.ConcatChart:
    """Return latency, answers and CPUs over time, a panel each, a line a trial.

    ``frame`` is what ``course`` gives; ``marks_s`` are when CPUs were added and taken away.
    """
    titles: Mapping[str, tuple[str, str]] = {
        "latency": ("Latency of what fell due (mean of a window, ms)", "ms"),
        "answers": ("Answers", "per second"),
        "cpus": ("CPU time of the host", "CPUs"),
    }
    names = frame[factor].unique(maintain_order=True).to_list()
    return panels(
        {
            title: _panel(
                frame.filter(pl.col("what") == what), factor, names, unit, series_title, marks_s,
                log=what == "latency",
            )
            for what, (title, unit) in titles.items()
        },
        width_px=_PANEL_WIDTH_PX,
        height_px=_PANEL_PX,
        share="x",
    )  # fmt: skip


def _panel(
    frame: pl.DataFrame,
    factor: str,
    names: Sequence[str],
    unit: str,
    series_title: str,
    marks_s: Sequence[float],
    *,
    log: bool,
) -> alt.LayerChart:
    lines = (
        alt.Chart(frame)
        .mark_line(interpolate="step-after", strokeWidth=1.5, opacity=0.8)
        .encode(
            x=alt.X("t_s:Q", title="seconds of the measured phase", scale=alt.Scale(nice=False)),
            y=alt.Y("value:Q", title=unit, scale=alt.Scale(type="log" if log else "linear")),
            color=alt.Color(f"{factor}:N", title=series_title, scale=treatment_scale(names)),
            detail="replicate:N",
            tooltip=[
                f"{factor}:N",
                "replicate:N",
                alt.Tooltip("t_s:Q", format=".2f"),
                alt.Tooltip("value:Q", title=unit, format=".3g"),
            ],
        )
    )
    rows = [{"t_s": at_s, "what": what} for at_s, what in zip(marks_s, _MARKS, strict=False)]
    rules = (
        alt.Chart(pl.DataFrame(rows, schema={"t_s": pl.Float64, "what": pl.String}))
        .mark_rule(strokeWidth=1.75, color=PALETTE[7])
        .encode(
            x="t_s:Q",
            strokeDash=alt.StrokeDash(
                "what:N", title=None, scale=alt.Scale(domain=_MARKS, range=[[1, 0], [4, 3]])
            ),
        )
    )
    layers: alt.LayerChart = lines + rules
    return layers


def _edges(bundle: Bundle, width_s: float) -> NDArray[np.float64]:
    """Return the begins of the measured phase's windows, and the end of the last, in seconds."""
    return np.arange(0.0, bundle.record.trial.load.phases.measured_s + width_s / 2, width_s)


@derived("resizing.client_course")
def _client_course(bundle: Bundle, width_s: float) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return by window the mean latency of what fell due (ms; NaN: nothing), and the answers."""
    edges = _edges(bundle, width_s)
    due_s, latency_ms = _good(bundle)
    counts, _ = np.histogram(due_s, edges)
    sums, _ = np.histogram(due_s, edges, weights=latency_ms)
    ended, _ = np.histogram(due_s + latency_ms / 1e3, edges)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan), ended


def _good(bundle: Bundle) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return due times in seconds of the measured phase, and latencies in ms, of good answers."""
    rows: RequestColumns = bundle.columns.only("error", "")
    due_s = (rows["intended_ns"] - _begin_ns(bundle)) / 1e9
    return due_s, rows["latency_ns"] / 1e6


def _begin_ns(bundle: Bundle) -> int:
    mark = bundle.record.execution.phase("measured")
    return bundle.record.execution.monotonic_ns if mark is None else mark.begin_ns


def _since(bundle: Bundle, at_ns: int) -> float:
    return (at_ns - _begin_ns(bundle)) / 1e9


def _readings(bundle: Bundle, source: str, metric: str) -> TimeSeries | None:
    found = bundle.readings.find(source, metric)
    return next((one for one in found if one.source == source), None)
