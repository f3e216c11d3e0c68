"""What pools of threads did: rates, times and threads of each trial, and bounds of the rates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from sizebook.lab import Trials
from sizebook.lab.trials import Measure
from sizebook.report import charts, measures, summaries
from sizebook.report.counter_increase import greatest, per_rise, rise_per_request, risen, rises
from sizebook.report.quantities import Quantity, frame_of, means_of, table_of
from sizebook.report.reported import reported_claim
from sizebook.store import Bundle

if TYPE_CHECKING:
    from great_tables import GT

APP = "server/app-"
LOAD_WORDS = {"wait": "waits", "cpu": "computes"}
_SERVED = "binding_served_total"


def _in_pool(pool: str, metric: str) -> Measure:
    return per_rise(APP, f"{metric}/{pool}", APP, f"binding_done_total/{pool}", 1e3)


def _most(pool: str) -> Measure:
    return greatest(APP, f"binding_pool_largest/{pool}")


def stack_cpu_ms(bundle: Bundle) -> float | None:
    """Return the CPU time of node, broker and database for one request, in ms."""
    spent = [measures.cpu_ms_per_request(role)(bundle) for role in ("app", "broker", "database")]
    known = [one for one in spent if one is not None]
    return sum(known) if len(known) == len(spent) else None


def pools_named(bundle: Bundle) -> float | None:
    """Return how many pools served calls and messages, web threads left out."""
    served = rises(bundle, _SERVED, APP)
    return float(served.filter((pl.col("rise") > 0) & (pl.col("label") != "web")).height)


CLAIMS = (Quantity("report", "Report"), Quantity("claim", "What it says"))
"""Claims of the reports."""
_PER_CALL, _AT_MOST = "For each call", "At most per second"
_CALL_RATE = Quantity("per_s", "Calls per second", 0, measure=measures.throughput_per_s)
_CALL_COSTS = (
    Quantity("cpu_ms", "CPU (ms)", 3, _PER_CALL, stack_cpu_ms),
    Quantity(
        "switches",
        "Context switches",
        1,
        _PER_CALL,
        rise_per_request("host", "context_switches"),
    ),
)
BOUNDS = (
    Quantity("load", "Work"),
    Quantity("limit", "Web threads"),
    _CALL_RATE,
    Quantity(
        "call_ms",
        "Time in thread (ms)",
        2,
        measure=per_rise(APP, "binding_call_s", APP, "binding_calls_total", 1e3),
    ),
    Quantity("busy", "Threads at work", 1),
    Quantity("latency_ms", "Latency, median (ms)", 1, measure=measures.latency_ms(0.5)),
    *_CALL_COSTS,
    Quantity("by_threads", "by threads", 0, _AT_MOST),
    Quantity("by_cpu", "by CPU", 0, _AT_MOST),
)
"""Calls by the number of web threads."""
REMOTE = (
    Quantity("row", "Pool"),
    _CALL_RATE,
    Quantity("p95_ms", "95 % answered within (ms)", 2, measure=measures.latency_ms(0.95)),
    Quantity("largest", "Threads, most", 0, measure=_most("bindings-rpc")),
    Quantity(
        "started",
        "Threads started",
        3,
        _PER_CALL,
        per_rise(APP, "binding_started_total/bindings-rpc", APP, "binding_done_total/bindings-rpc"),
    ),
    *_CALL_COSTS,
)
"""Remote calls by what their pool may do."""
MESSAGES = (
    Quantity("load", "Messages"),
    Quantity("limit", "Limit"),
    Quantity("per_s", "Per second", 0, measure=measures.throughput_per_s),
    Quantity("waited_ms", "Waited (ms)", 2, measure=_in_pool("bindings-queue", "binding_waited_s")),
    Quantity(
        "worked_ms", "Worked on (ms)", 2, measure=_in_pool("bindings-queue", "binding_worked_s")
    ),
    Quantity("largest", "Threads, most", 0, measure=_most("bindings-queue")),
    Quantity("out_of_order", "Out of order (%)", 1),
)
"""Messages by the limit of concurrency."""
_JMS = {
    "waited_ms": _in_pool("bindings-jms", "binding_waited_s"),
    "worked_ms": _in_pool("bindings-jms", "binding_worked_s"),
    "largest": _most("bindings-jms"),
}
"""What is another pool's where messages come over the broker."""
_ORDER = (
    Quantity("late", "Late", measure=risen(APP, "binding_late_total")),
    Quantity("sent", "Sent", measure=risen(APP, "binding_sent_total")),
)
_ANSWERED = "Calls answered within (ms)"
BESIDE = (
    Quantity("layout", "Layout"),
    Quantity("beside", "Beside"),
    Quantity("calls", "Calls per second", 0, measure=measures.rate_per_s("queue")),
    Quantity("p50", "50 %", 2, _ANSWERED, measures.latency_ms(0.5, name="queue")),
    Quantity("p95", "95 %", 2, _ANSWERED, measures.latency_ms(0.95, name="queue")),
    Quantity("p99", "99 %", 2, _ANSWERED, measures.latency_ms(0.99, name="queue")),
    Quantity("messages", "Messages per second", 0, measure=measures.rate_per_s("one-way")),
    Quantity("stack_cpu", "CPU busy (%)", 0, measure=measures.stack_cpu_share),
)
"""Calls that meet messages or not."""
KINDS = (
    Quantity("kind", "Web threads"),
    Quantity("per_s", "Calls per second", 0, measure=measures.throughput_per_s),
    Quantity("p95_ms", "95 % answered within (ms)", 0, measure=measures.latency_ms(0.95)),
    Quantity(
        "threads",
        "Threads of the process",
        0,
        measure=measures.level("process/app-", "threads", "max"),
    ),
    Quantity("native_mb", "Native memory (MB)", 0),
    Quantity("cpu_ms", "CPU (ms)", 3, _PER_CALL, measures.cpu_ms_per_request("app")),
    Quantity(
        "switches",
        "Threads put to sleep",
        1,
        _PER_CALL,
        rise_per_request("process/app-", "switches_voluntary"),
    ),
)
"""Calls by the kind of web threads."""
_SERVED_BY = (
    Quantity("layout", "Pools"),
    Quantity("label", "Pool of the thread"),
    Quantity("rise", "Calls and messages", 0),
)


def claims_said(claim_ids: Iterable[str]) -> pl.DataFrame:
    """Return one row a claim: the year of its ``report``, and the ``claim`` as it says it."""
    rows = [(one.source[-4:], one.statement) for one in map(reported_claim, claim_ids)]
    return pl.DataFrame(rows, schema=[one.name for one in CLAIMS], orient="row")


def calls_frame(trials: Trials) -> pl.DataFrame:
    """Return one row a trial with ``BOUNDS`` and ``REMOTE``, and its ``load`` and ``limit``."""
    return _with_load(frame_of(trials, *BOUNDS, *REMOTE))


def of_load(frame: pl.DataFrame, *loads: str) -> pl.DataFrame:
    """Return the trials of some loads whose pools are their own."""
    return frame.filter(pl.col("load").is_in(loads), pl.col("pools") == "own")


def bounds(frame: pl.DataFrame, load: str, cpus: int) -> pl.DataFrame:
    """Return one row a limit of a load: means, and the two rates that it cannot pass.

    ``by_threads`` is threads over the time in the thread of the fewest, ``by_cpu`` the CPUs over
    the CPU time of a call; ``busy`` are the threads at work by Little's law.
    """
    measured = [one for one in BOUNDS if one.measure]
    rows = means_of(of_load(frame, load), ["limit"], *measured)
    rows = rows.with_columns(pl.col("limit").cast(pl.Int64)).sort("limit")
    alone = pl.lit(rows["call_ms"].head(1)).first()
    return rows.with_columns(
        load=pl.lit(LOAD_WORDS[load]),
        busy=pl.col("per_s") * pl.col("call_ms") / 1e3,
        by_threads=1e3 * pl.col("limit") / alone,
        by_cpu=1e3 * cpus / pl.col("cpu_ms"),
    )


def bounds_table(*each: pl.DataFrame) -> GT:
    """Return the table of ``bounds`` of several loads below each other."""
    return table_of(
        pl.concat(each),
        *BOUNDS,
        note="threads at work = calls per second x time in the thread; at most by threads: their "
        "number over the time in the thread of the fewest; by CPU: the stack's CPUs over the CPU "
        "time of a call",
    )


def bounds_chart(rows: pl.DataFrame) -> alt.Chart | alt.LayerChart:
    """Return the measured rate of a load over its limit, with both bounds."""
    lines = {"per_s": "measured", "by_threads": "bound by threads", "by_cpu": "bound by CPU"}
    drawn = pl.concat(
        rows.select("limit", mean=column, series=pl.lit(title)) for column, title in lines.items()
    ).with_columns(low=pl.lit(None, pl.Float64), high=pl.lit(None, pl.Float64))
    return charts.curves(
        drawn,
        x="limit",
        series="series",
        x_title="web threads",
        y_title="calls per second",
        log_y=True,
    )


def kinds_frame(trials: Trials, heap_mib: int) -> pl.DataFrame:
    """Return one row a trial with ``KINDS``; native memory is what is held beyond the heap."""
    held = Quantity("held", "Held", measure=measures.level("process/app-", "rss_bytes", "max"))
    frame = frame_of(trials, *KINDS, held)
    return frame.with_columns(native_mb=pl.col("held") / 2**20 - heap_mib)


def messages_frame(trials: Trials) -> pl.DataFrame:
    """Return one row a trial that sends messages over pools of their own: ``MESSAGES``.

    ``late`` are messages that were done after a later one of their sender. Waiting, work and
    threads are those of the pool over which the messages came.
    """
    others = [Quantity(f"jms_{name}", name, measure=measure) for name, measure in _JMS.items()]
    frame = _with_load(frame_of(trials, *MESSAGES, *others, *_ORDER))
    over_broker = pl.col("load") == "jms"
    return of_load(frame, "one client", "queue", "jms", "backlog").with_columns(
        out_of_order=100 * pl.col("late") / pl.col("sent"),
        **{name: pl.when(over_broker).then(f"jms_{name}").otherwise(pl.col(name)) for name in _JMS},
    )


def in_order(messages: pl.DataFrame) -> pl.DataFrame:
    """Return the messages' trials with ``order_as_claimed``: none late with one, some with more."""
    alone, late = pl.col("limit") == "1", pl.col("late")
    return messages.with_columns(
        order_as_claimed=pl.when(alone).then(late == 0).otherwise(late > 0)
    )


def beside_frame(trials: Trials) -> pl.DataFrame:
    """Return one row a trial in which calls meet messages or not: ``BESIDE`` and ``call_ms``."""
    time = per_rise(APP, "binding_call_s/queue", APP, "binding_calls_total/queue", 1e3)
    frame = frame_of(trials, *BESIDE, Quantity("call_ms", "Time of a call (ms)", measure=time))
    said = {"beside/calm": "no messages", "beside/flood": "flood of messages"}
    layouts = {"own": "pools of their own", "shared": "one shared pool"}
    return frame.filter(pl.col("case").str.starts_with("beside/")).with_columns(
        beside=pl.col("case").replace(said), layout=pl.col("pools").replace(layouts)
    )


def isolation_chart(beside: pl.DataFrame) -> alt.Chart | alt.LayerChart:
    """Return median and 95th percentile of the calls by layout, with and without messages."""
    rows = [
        summaries.summarize(beside, ["layout", "beside"], name).with_columns(
            row=pl.format("{}, {}", "layout", pl.lit(title))
        )
        for name, title in (("p50", "median"), ("p95", "95 %"))
    ]
    return charts.dots(
        pl.concat(rows),
        value="mean",
        category="row",
        series="beside",
        low="low",
        high="high",
        scale="log",
        x_title="time of a call (ms)",
        category_title="Layout and percentile",
        series_title="Beside",
    )


def isolation_table(beside: pl.DataFrame, note: str) -> GT:
    """Return calls and messages by layout; without messages their rate is a dash."""
    rate = pl.col("messages")
    rows = means_of(beside, ["layout", "beside"], *BESIDE[2:])
    return table_of(rows.with_columns(messages=pl.when(rate > 0).then(rate)), *BESIDE, note=note)


def served_table(trials: Trials) -> GT:
    """Return how many calls and messages the threads of each pool served under the flood."""
    schema = {"source": pl.String, "label": pl.String, "rise": pl.Float64, "layout": pl.String}
    flooded = [
        rises(trial.bundle, _SERVED, APP)
        .filter(pl.col("rise") > 0)
        .with_columns(layout=pl.lit(trial.treatment["pools"]))
        for trial in trials
        if trial.verdict != "failed" and trial.treatment["case"] == "beside/flood"
    ]
    counts = (
        pl.concat([pl.DataFrame(schema=schema), *flooded])
        .group_by("layout", "label", maintain_order=True)
        .agg(pl.col("rise").sum().cast(pl.Int64))
        .sort("layout", "label")
    )
    return table_of(counts, *_SERVED_BY)


def named_frame(trials: Trials) -> pl.DataFrame:
    """Return one row a trial; ``pools_as_named``: two pools where each has its own, else one."""
    frame, count = trials.frame(pools_named=pools_named), pl.col("pools_named")
    own = pl.col("pools") == "own"
    return frame.with_columns(pools_as_named=pl.when(own).then(count == 2).otherwise(count == 1))


def _with_load(frame: pl.DataFrame) -> pl.DataFrame:
    parts = pl.col("case").str.split("/").list
    return frame.with_columns(load=parts.get(0), limit=parts.get(1))
