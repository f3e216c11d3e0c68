"""What pools of threads did: rates, times and threads of each trial, and bounds of the rates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from sizebook.lab import Trials
from sizebook.lab.trials import Measure
from sizebook.report import charts, measures, summaries, tables
from sizebook.report.counter_increase import greatest, per_rise, rise_per_request, risen, rises
from sizebook.report.quantities import Quantity, frame_of, means, pick, rows_table
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


CALLS = {
    "per_s": Quantity("Calls per second", 0, measures.throughput_per_s),
    "call_ms": Quantity(
        "Time in thread (ms)", 2, per_rise(APP, "binding_call_s", APP, "binding_calls_total", 1e3)
    ),
    "busy": Quantity("Threads at work", 1),
    "latency_ms": Quantity("Latency, median (ms)", 1, measures.latency_ms(0.5)),
    "p95_ms": Quantity("95 % answered within (ms)", 2, measures.latency_ms(0.95)),
    "largest": Quantity("Threads, most", 0, _most("bindings-rpc")),
    "started": Quantity(
        "Threads started",
        3,
        per_rise(APP, "binding_started_total/bindings-rpc", APP, "binding_done_total/bindings-rpc"),
    ),
    "cpu_ms": Quantity("CPU (ms)", 3, stack_cpu_ms),
    "switches": Quantity("Context switches", 1, rise_per_request("host", "context_switches")),
    "by_threads": Quantity("by threads", 0),
    "by_cpu": Quantity("by CPU", 0),
}
MESSAGES = {
    "per_s": Quantity("Per second", 0, measures.throughput_per_s),
    "waited_ms": Quantity("Waited (ms)", 2, _in_pool("bindings-queue", "binding_waited_s")),
    "worked_ms": Quantity("Worked on (ms)", 2, _in_pool("bindings-queue", "binding_worked_s")),
    "largest": Quantity("Threads, most", 0, _most("bindings-queue")),
    "out_of_order": Quantity("Out of order (%)", 1),
}
_JMS = {
    "waited_ms": _in_pool("bindings-jms", "binding_waited_s"),
    "worked_ms": _in_pool("bindings-jms", "binding_worked_s"),
    "largest": _most("bindings-jms"),
}
"""What is another pool's where messages come over the broker."""
BESIDE = {
    "calls": Quantity("Calls per second", 0, measures.rate_per_s("queue")),
    "p50": Quantity("50 %", 2, measures.latency_ms(0.5, name="queue")),
    "p95": Quantity("95 %", 2, measures.latency_ms(0.95, name="queue")),
    "p99": Quantity("99 %", 2, measures.latency_ms(0.99, name="queue")),
    "messages": Quantity("Messages per second", 0, measures.rate_per_s("one-way")),
    "stack_cpu": Quantity("CPU busy (%)", 0, measures.stack_cpu_share),
}
KINDS = {
    "per_s": Quantity("Calls per second", 0, measures.throughput_per_s),
    "p95_ms": Quantity("95 % answered within (ms)", 0, measures.latency_ms(0.95)),
    "threads": Quantity(
        "Threads of the process", 0, measures.level("process/app-", "threads", "max")
    ),
    "native_mb": Quantity("Native memory (MB)", 0),
    "cpu_ms": Quantity("CPU (ms)", 3, measures.cpu_ms_per_request("app")),
    "switches": Quantity(
        "Threads put to sleep", 1, rise_per_request("process/app-", "switches_voluntary")
    ),
}


def calls_frame(trials: Trials) -> pl.DataFrame:
    """Return one row a trial with the quantities of ``CALLS``, and its ``load`` and ``limit``."""
    return _with_load(frame_of(trials, CALLS))


def of_load(frame: pl.DataFrame, *loads: str) -> pl.DataFrame:
    """Return the trials of some loads whose pools are their own."""
    return frame.filter(pl.col("load").is_in(loads), pl.col("pools") == "own")


def bounds(frame: pl.DataFrame, load: str, cpus: int) -> pl.DataFrame:
    """Return one row a limit of a load: means, and the two rates that it cannot pass.

    ``by_threads`` is threads over the time in the thread of the fewest, ``by_cpu`` the CPUs over
    the CPU time of a call; ``busy`` are the threads at work by Little's law.
    """
    names = ["per_s", "call_ms", "cpu_ms", "latency_ms", "switches"]
    rows = means(of_load(frame, load), ["limit"], names)
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
    shown = pick(CALLS, "per_s", "call_ms", "busy", "latency_ms", "cpu_ms", "switches",
                 "by_threads", "by_cpu")  # fmt: skip
    return rows_table(
        pl.concat(each),
        {"load": "Work", "limit": "Web threads"},
        shown,
        spanners={
            "For each call": ["cpu_ms", "switches"],
            "At most per second": ["by_threads", "by_cpu"],
        },
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
    held = {"held": Quantity("Held", 0, measures.level("process/app-", "rss_bytes", "max"))}
    frame = frame_of(trials, {**KINDS, **held})
    return frame.with_columns(native_mb=pl.col("held") / 2**20 - heap_mib)


def messages_frame(trials: Trials) -> pl.DataFrame:
    """Return one row a trial that sends messages over pools of their own: ``MESSAGES``.

    ``late`` are messages that were done after a later one of their sender. Waiting, work and
    threads are those of the pool over which the messages came.
    """
    others = {f"jms_{name}": Quantity(name, 0, measure) for name, measure in _JMS.items()}
    order = {
        "late": Quantity("Late", 0, risen(APP, "binding_late_total")),
        "sent": Quantity("Sent", 0, risen(APP, "binding_sent_total")),
    }
    frame = _with_load(frame_of(trials, {**MESSAGES, **others, **order}))
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
    frame = frame_of(trials, {**BESIDE, "call_ms": Quantity("Time of a call (ms)", 3, time)})
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
    rows = means(beside, ["layout", "beside"], list(BESIDE))
    return rows_table(
        rows.with_columns(messages=pl.when(rate > 0).then(rate)),
        {"layout": "Layout", "beside": "Beside"},
        BESIDE,
        spanners={"Calls answered within (ms)": ["p50", "p95", "p99"]},
        note=note,
    )


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
    labels = {"layout": "Pools", "label": "Pool of the thread", "rise": "Calls and messages"}
    return tables.plain_table(counts, labels=labels, digits={"rise": 0})


def named_frame(trials: Trials) -> pl.DataFrame:
    """Return one row a trial; ``pools_as_named``: two pools where each has its own, else one."""
    frame, count = trials.frame(pools_named=pools_named), pl.col("pools_named")
    own = pl.col("pools") == "own"
    return frame.with_columns(pools_as_named=pl.when(own).then(count == 2).otherwise(count == 1))


def _with_load(frame: pl.DataFrame) -> pl.DataFrame:
    parts = pl.col("case").str.split("/").list
    return frame.with_columns(load=parts.get(0), limit=parts.get(1))
