"""What the trials of heaps tell: frames, and the quantities of their tables."""

from __future__ import annotations

from functools import partial

import altair as alt
import polars as pl

from sizebook.chapters.heap_gc import heaps
from sizebook.chapters.heap_gc.workload import CALLS
from sizebook.lab import Trial, Trials
from sizebook.lab.trials import Measure
from sizebook.report import charts, measures, outages, stored_rows, summaries
from sizebook.report.counter_increase import risen
from sizebook.report.gc_logs import gc_measure, overhead_percent
from sizebook.report.quantities import Quantity, frame_of, means_of
from sizebook.store import Bundle

_GC_TIME, _LATENCY = "Time of collections", "Latency"
BASELINE = (
    Quantity("replicate", "Start"),
    Quantity(
        "calls",
        "Calls",
        0,
        measure=lambda bundle: CALLS * (outages.requests_made("copy", good=True)(bundle) or 0),
    ),
    Quantity("collections", "Collections", 0, measure=gc_measure(lambda log: log.collections)),
    Quantity("gc_overhead", "Overhead (%)", 2, measure=gc_measure(overhead_percent)),
    Quantity(
        "longest",
        "Longest pause (ms)",
        1,
        measure=gc_measure(heaps.longest_pause_ms, over_nodes=max),
    ),
    Quantity(
        "rate",
        "Allocated (MiB/s)",
        0,
        measure=gc_measure(
            lambda log: None if log.allocated_per_s is None else log.allocated_per_s / heaps.MIB
        ),
    ),
)
"""A start of the baseline."""
STAGES = (
    Quantity("heap_mib", "Heap (MiB)"),
    Quantity("stage", "Stage"),
    Quantity("per_s", "Messages/s", 1),
    Quantity("collections_per_s", "Collections/s", 2),
    Quantity("mean_pause_ms", "Mean pause (ms)", 1),
    Quantity("gc_overhead", "Overhead (%)", 1),
)
"""A stage of the sending."""
LIVES = (
    Quantity("heap", "Heap at first (MiB)"),
    Quantity("trial", "Trial"),
    Quantity("start", "Start: heap"),
    Quantity("ready_s", "Ready after (s)", 1),
    Quantity("lived_s", "Lived (s)", 1),
    Quantity("acknowledged", "Acknowledged"),
    Quantity("end", "End"),
)
"""A start of the node."""
_LIVES = dict(zip((one.name for one in LIVES), (
    pl.Int64, pl.Int64, pl.String, pl.Float64, pl.Float64, pl.Int64, pl.String,
), strict=True))  # fmt: skip
ACCOUNT = (
    Quantity("heap_mib", "Heap at first (MiB)"),
    Quantity("replicate", "Trial"),
    Quantity("wanted", "To send", 0),
    Quantity(
        "acknowledged", "Acknowledged", 0, measure=outages.requests_made("message", good=True)
    ),
    Quantity("retries", "Failed attempts", 0, measure=outages.requests_made("retry", good=False)),
    Quantity("stored", "Rows", 0, measure=stored_rows.rows_stored("messaging_row")),
    Quantity(
        "delivered",
        "Delivered",
        0,
        measure=risen("server/app-", "queue_acknowledged_total/work"),
    ),
    Quantity(
        "duplicates", "Known already", 0, measure=risen("server/app-", "messages_total/duplicate")
    ),
    Quantity("ends", "Out of memory", 0, measure=heaps.exhaustions),
)
"""The account of a trial."""
COLLECTORS = (
    Quantity("which", "Collector"),
    Quantity("per_s", "Calls/s", 0, measure=measures.throughput_per_s),
    Quantity("cpu_ms", "CPU a call (ms)", 2, measure=measures.cpu_ms_per_request("app")),
    Quantity("gc_overhead", "Stopped (%)", 1, _GC_TIME, gc_measure(overhead_percent)),
    Quantity("beside", "Beside (%)", 1, _GC_TIME, gc_measure(lambda log: log.concurrent_share)),
    Quantity("collections", "Collections/s", 1, measure=gc_measure(heaps.collections_per_s)),
    Quantity("stalls", "Stalls", 1, measure=gc_measure(lambda log: log.stalls)),
    Quantity("p50", "Median (ms)", 1, _LATENCY, measures.latency_ms(0.5)),
    Quantity("p99", "p99 (ms)", 1, _LATENCY, measures.latency_ms(0.99)),
    Quantity(
        "longest",
        "Longest pause (ms)",
        1,
        measure=gc_measure(heaps.longest_pause_ms, over_nodes=max),
    ),
    Quantity("rss_mib", "Resident (MiB)", 0),
)
"""A collector beside others."""
SWEEP = (
    Quantity("heap_mib", "Heap (MiB)"),
    Quantity("mean", "Overhead (%)", 2),
    Quantity("advised", "Advised by its log (MiB)", 0),
    Quantity("n", "Trials"),
)
"""A heap of the sweep."""


def baseline_frame(trials: Trials) -> pl.DataFrame:
    """Return one row a start of the baseline: ``BASELINE`` and ``ends``, for lack of memory."""
    ends = trials.frame(ends=heaps.exhaustions).select("bundle", "ends")
    return frame_of(trials, *BASELINE).join(ends, on="bundle", how="left", maintain_order="left")


def started_with(trials: Trials, heap_mib: int) -> Trial | None:
    """Return the first trial that came to an end with this heap at first, None if none did."""
    for trial in trials:
        if trial.treatment["heap_mib"] == heap_mib and trial.verdict != "failed":
            return trial
    return None


def story_charts(trial: Trial | None) -> alt.ConcatChart:
    """Return the heap in use and the overhead over a trial's seconds, a line a start."""
    story = heaps.steps([trial] if trial else [])
    course = partial(
        charts.lines,
        x="t_s",
        y="value",
        series="life",
        series_title="Start: heap",
        x_title="seconds since the sending began",
    )
    panels = {
        title: course(story.filter(pl.col("quantity") == quantity), y_title=y_title)
        for title, quantity, y_title in (
            ("In use before and after each collection", "used", "heap in use (MiB)"),
            ("Overhead from one collection to the next", "overhead", "time in pauses (%)"),
        )
    }
    return charts.panels(panels, width_px=520, height_px=170, share="x")


def stages_frame(trials: Trials, last: int, messages: int) -> pl.DataFrame:
    """Return one row a trial and stage of its first start; ``last`` messages are the last stage."""
    staged = heaps.staged(trials, "message", last, messages)
    return staged.with_columns(gc_overhead=100 * pl.col("overhead"))


def stage_means(staged: pl.DataFrame) -> pl.DataFrame:
    """Return the means of ``stages_frame`` by heap and stage."""
    names = {"begin": "early", "before": "last messages", "whole": "all messages"}
    means = means_of(staged, ["heap_mib", "stage"], *STAGES[2:])
    return means.sort("heap_mib", maintain_order=True).with_columns(pl.col("stage").replace(names))


def lives_frame(trials: Trials) -> pl.DataFrame:
    """Return one row a start of the node in every trial: ``LIVES``."""
    rows = [
        {
            "heap": trial.treatment["heap_mib"],
            "trial": trial.replicate + 1,
            "start": life.name,
            "ready_s": (life.ready_ns - life.begin_ns) / 1e9 if life.number > 1 else None,
            "lived_s": (life.end_ns - life.begin_ns) / 1e9,
            "acknowledged": heaps.answered(trial.bundle, "message", life).size,
            "end": life.said.removeprefix("java.lang.") or "ran on",
        }
        for trial in trials
        for life in heaps.lives(trial.bundle)
    ]
    return pl.DataFrame(rows, schema=_LIVES)


def held_by(lives: pl.DataFrame, heap_mib: int) -> float:
    """Return the mean of what first starts with this heap acknowledged; 0 without any."""
    first = pl.col("start").str.starts_with("1:")
    held = lives.filter((pl.col("heap") == heap_mib) & first)["acknowledged"]
    return float(held.mean() or 0.0)  # type: ignore[arg-type]


def account_frame(trials: Trials, messages: int, staged: pl.DataFrame) -> pl.DataFrame:
    """Return one row a trial: ``ACCOUNT``, its starts, what was freed, and its stages beside it.

    ``first`` and ``second``: that start ended for lack of memory; ``lives``: starts. ``peak_mib``,
    ``left_mib``, ``pause_ms``, ``usual_ms``: the first collection of the whole heap after a
    delivery. ``closes``: all that was to be sent is acknowledged and stored.
    """
    frame = trials.frame(
        **{one.name: one.measure for one in ACCOUNT if one.measure},
        wanted=lambda bundle: messages * int(bundle.record.trial.load.settings["runs"]),
        first=_died(1),
        second=_died(2),
        lives=lambda bundle: len(heaps.lives(bundle)),
        peak_mib=_freed("peak_mib"),
        left_mib=_freed("left_mib"),
        pause_ms=_freed("pause_ms"),
        usual_ms=_freed("usual_pause_ms"),
    ).with_columns(
        closes=(pl.col("acknowledged") == pl.col("wanted")) & (pl.col("stored") == pl.col("wanted"))
    )
    values = ["gc_overhead", "per_s"]
    if staged.height:
        beside = staged.pivot("stage", index="bundle", values=values)
        return frame.join(beside, on="bundle", how="left")
    missing = [f"{name}_{stage}" for name in values for stage in ("begin", "before")]
    return frame.with_columns(pl.lit(None, pl.Float64).alias(name) for name in missing)


def collectors_frame(trials: Trials, overhead: float) -> pl.DataFrame:
    """Return one row a trial of the collectors: ``COLLECTORS``, ``ends``, and the heap advised.

    ``advised`` is the smallest heap in MiB for this overhead, by the trial's log alone.
    """
    return trials.frame(
        **{one.name: one.measure for one in COLLECTORS if one.measure},
        rss=measures.level("process/app-", "rss_bytes", "max"),
        advised=heaps.advised_mib(overhead),
        ends=heaps.exhaustions,
    ).with_columns(
        rss_mib=pl.col("rss") / heaps.MIB,
        is_alive=pl.col("ends") == 0,
        which=pl.format("{}, Java {}", "collector", "jvm"),
    )


def waits(beside: pl.DataFrame) -> pl.DataFrame:
    """Return median, p99 and longest pause by collector, with intervals, those above zero."""
    told = {"p50": "median latency", "p99": "p99 of latency", "longest": "longest pause"}
    frames = [
        summaries.summarize(beside, ["which"], name).with_columns(statistic=pl.lit(words))
        for name, words in told.items()
    ]
    return pl.concat(frames).filter(pl.col("mean") > 0)


def _freed(name: str) -> Measure:
    def measure(bundle: Bundle) -> float | None:
        found = heaps.freed_after(bundle, "message", "stop")
        return None if found is None else getattr(found, name)

    return measure


def _died(number: int) -> Measure:
    """Return a measure: 1 if that start of the node ended for lack of memory, else 0."""

    def measure(bundle: Bundle) -> float:
        alive = heaps.lives(bundle)
        return float(len(alive) >= number and bool(alive[number - 1].said))

    return measure
