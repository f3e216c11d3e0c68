"""What the trials of clones tell: frames, and the quantities of their tables."""

from __future__ import annotations

from typing import Literal

import altair as alt
import polars as pl

from sizebook.chapters.failover import failures
from sizebook.chapters.failover.cases import TABLE
from sizebook.lab import Trials
from sizebook.report import charts, counter_increase, measures, stored_rows, summaries
from sizebook.report.quantities import Quantity, frame_of

_LATENCY, _MEMORY, _TIME = "Latency (ms)", "Memory (MiB)", "Time a transaction (ms)"
LAYOUTS = (
    Quantity("nodes", "Processes"),
    Quantity("throughput_per_s", "Transactions per second", 0, measure=measures.throughput_per_s),
    Quantity("mean_ms", "mean", 1, _LATENCY, failures.mean_ms),
    Quantity("p95_ms", "95th percentile", 1, _LATENCY, measures.latency_ms(0.95)),
    Quantity("failed", "Failed", 0, measure=failures.failed),
    Quantity("rss_mib", "resident", 0, _MEMORY),
    Quantity("heap_mib", "heap in use", 0, _MEMORY),
    Quantity("threads", "Threads", 0, measure=measures.level("process/app-", "threads")),
    Quantity("app_cpu_ms", "of the app", 2, _TIME, measures.cpu_ms_per_request("app")),
    Quantity(
        "gc_share",
        "collecting",
        3,
        _TIME,
        counter_increase.rise_per_request("jvm/app-", "gc_s", scale=1e3),
    ),
    Quantity("stack_cpu", "CPU of the stack (%)", 0, measure=measures.stack_cpu_share),
)
"""One process or clones."""
_CASE = (Quantity("outage", "Clone"), Quantity("sessions", "Sessions"))
_FAILED, _BALANCER, _CLONES = "A request failed", "By the balancer", "Clones"
TIMES = (
    *_CASE,
    Quantity("first_s", "first", 2, _FAILED, failures.first_failure_s),
    Quantity("last_s", "last", 2, _FAILED, failures.last_failure_s),
    Quantity("recovered_s", "All is well", 2),
    Quantity("down_s", "lost", 2, _BALANCER, failures.found_down_s),
    Quantity("up_s", "trusted again", 2, _BALANCER, failures.found_up_s),
)
"""When users and the balancer noticed a lost clone."""
KINDS = tuple(
    Quantity(f"kind_{kind}", words, 0, measure=failures.failed_of(kind))
    for kind, words in failures.KINDS.items()
)
"""Requests that failed, by reason."""
FAILURES = (
    *_CASE,
    Quantity("requests", "Requests", 0, measure=lambda bundle: float(bundle.columns.height)),
    Quantity("failed", "Failed", 0, measure=failures.failed),
    *KINDS,
    Quantity("hit", "Users hit", 0, measure=failures.users_hit),
)
"""Requests that failed."""
_EVENTS = "business_session_events_total"
WITNESSES = (
    *_CASE,
    Quantity("elsewhere", "sent to another clone", 0, "Balancer", measure=failures.sent_elsewhere),
    Quantity(
        "disagreement",
        "own answers that clients did not get, or got more of",
        0,
        "Balancer",
        failures.disagreement,
    ),
    Quantity(
        "missed",
        "sessions not known",
        0,
        _CLONES,
        counter_increase.risen("server/app-", f"{_EVENTS}/missed"),
    ),
    Quantity(
        "restored",
        "sessions fetched",
        0,
        _CLONES,
        counter_increase.risen("server/app-", f"{_EVENTS}/restored"),
    ),
)
"""What balancer and clones counted."""
WRITES = (
    *_CASE,
    Quantity("acknowledged", "Acknowledged", 0, measure=failures.acknowledged(TABLE)),
    Quantity("unsure", "Left open", 0, measure=failures.unsure(TABLE)),
    Quantity("stored", "Rows", 0, measure=stored_rows.rows_stored(TABLE)),
    Quantity("lost", "Lost", 0),
    Quantity("doubled", "Doubled", 0),
)
"""What became of writes."""


def layouts_frame(trials: Trials) -> pl.DataFrame:
    """Return one row a trial of the layouts: ``LAYOUTS``."""
    bytes_held = trials.frame(
        rss_mib=measures.level("process/app-", "rss_bytes"),
        heap_mib=measures.level("server/app-", "heap_used_bytes"),
    )
    held = bytes_held.select(pl.col("rss_mib", "heap_mib") / 2**20)
    return pl.concat([frame_of(trials, *LAYOUTS), held], how="horizontal")


def layout_bars(frame: pl.DataFrame) -> alt.ConcatChart:
    """Return latency, memory and CPU time of one process and of two clones."""
    names = pl.col("nodes").replace_strict({1: "one process", 2: "two clones"})
    panels = {
        title: charts.bars(
            summaries.summarize(frame, ["nodes"], column).with_columns(nodes=names),
            category="nodes",
            y_title=title,
        )
        for title, column in (
            ("mean latency (ms)", "mean_ms"),
            ("resident memory (MiB)", "rss_mib"),
            ("CPU time a transaction (ms)", "app_cpu_ms"),
        )
    }
    return charts.panels(panels, height_px=70)


def account_frame(trials: Trials, limit_ms: float) -> pl.DataFrame:
    """Return one row a trial in which a clone was lost: all that its tables have.

    ``limit_ms`` is the mean latency with which all is well again. ``lost`` are acknowledged writes
    without a row, ``doubled`` rows beyond all that may have been written.
    """
    quantities = (*TIMES, *FAILURES, *WITNESSES, *WRITES)
    frame = trials.frame(
        **{one.name: one.measure for one in quantities if one.measure},
        recovered_s=failures.recovered_s(limit_ms),
    )
    acknowledged, stored = pl.col("acknowledged"), pl.col("stored")
    return frame.with_columns(
        lost=(acknowledged - stored).clip(lower_bound=0),
        doubled=(stored - acknowledged - pl.col("unsure")).clip(lower_bound=0),
    )


def by_outage(
    account: pl.DataFrame, quantities: tuple[Quantity, ...], how: Literal["max", "sum"]
) -> pl.DataFrame:
    """Return the greatest values or sums by outage and sessions, over trials that can be told.

    Reasons for which no request of any trial failed are left out.
    """
    by = [one.name for one in _CASE]
    told = [one.name for one in quantities if one.name not in by]
    columns = [one for one in told if not one.startswith("kind_") or account[one].sum() > 0]
    groups = account.drop_nulls("failed").group_by(by, maintain_order=True)
    chosen = pl.col(columns)
    return groups.agg(chosen.max() if how == "max" else chosen.sum())
