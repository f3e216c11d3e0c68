"""What calls tell: frames, and the quantities of their tables."""

from __future__ import annotations

import polars as pl

from sizebook.chapters.bindings.calls import EVERY, SIZES, WAYS, at
from sizebook.lab import Trials
from sizebook.lab.trials import Measure
from sizebook.report import measures, summaries
from sizebook.report.counter_increase import COLUMNS as RISES
from sizebook.report.counter_increase import per_rise, rises
from sizebook.report.quantities import Quantity, frame_of, means_of
from sizebook.report.reported import conditions, find_reported

_APP = "server/app-"
NAMES = {
    "sca-sync": "synchronous, in the process",
    "sca-async": "asynchronous, in the process",
    "jms-async": "JMS",
    "http-sync": "HTTP",
    "ws-sync": "web service (SOAP)",
}
"""Binding of the report to its name in words."""
_LIKE = {
    "direct": "sca-sync",
    "queue": "sca-async",
    "jms": "jms-async",
    "http": "http-sync",
    "soap": "ws-sync",
}
PRINTED = (
    Quantity("binding", "Binding"),
    Quantity("object", "Object"),
    Quantity("value", "Time per call (ms)", 1),
)
"""A time as the report prints it."""
_BOTH, _TIMES = "Time per call (ms)", "Times the first row"
BESIDE = (
    Quantity("way", "Binding"),
    Quantity("report", "report", 1, _BOTH),
    Quantity("here", "here", 3, _BOTH),
    Quantity("report_times", "report", 0, _TIMES),
    Quantity("here_times", "here", 0, _TIMES),
)
"""A binding of the report beside ours."""
POOLS = (
    Quantity("way", "Binding"),
    Quantity("source", "Node"),
    Quantity("label", "Pool of the thread"),
    Quantity("rise", "Calls in all trials", 0),
)
"""A pool of threads that served calls."""


def _per_call(source: str, metric: str, scale: float = 1.0) -> Measure:
    """Return a measure: what a counter rises by for each call."""
    return per_rise(source, metric, _APP, "binding_calls_total", scale)


_SYNCS = Quantity(
    "syncs", "Journal syncs", 2, measure=_per_call("server/broker-", "journal_syncs_total")
)
_FLUSHES = Quantity("flushes", "Disk flushes", 2, measure=_per_call("host", "disk_flushes"))
_WRITTEN = Quantity(
    "written_kb", "Disk (kB)", 1, measure=_per_call("host", "disk_written_bytes", 1e-3)
)
_BROKER = Quantity(
    "broker_cpu_ms", "CPU of the broker (ms)", 2, measure=measures.cpu_ms_per_request("broker")
)
_MB = "Allocated (MB)"
_COUNTED = (
    Quantity("answer_ms", "Answer to the client (ms)", 2, measure=measures.latency_ms(0.5)),
    Quantity("switches", "Context switches", 1, measure=_per_call("host", "context_switches")),
    _SYNCS,
    _FLUSHES,
    _WRITTEN,
    Quantity("app_mb", "sender", 2, _MB, _per_call(_APP, "allocated_bytes", 1e-6)),
    Quantity(
        "backend_mb", "receiver", 2, _MB, _per_call("server/backend-", "allocated_bytes", 1e-6)
    ),
)
_CPU = (
    Quantity("app_cpu_ms", "CPU of the sender (ms)", 2, measure=measures.cpu_ms_per_request("app")),
    Quantity(
        "backend_cpu_ms",
        "CPU of the receiver (ms)",
        2,
        measure=measures.cpu_ms_per_request("backend"),
    ),
    _BROKER,
)
PER_CALL = (Quantity("way", "Binding"), *_COUNTED)
"""What one call takes."""
JMS = (Quantity("size", "Payload"), _SYNCS, _FLUSHES, _WRITTEN, _BROKER)
"""What one call over JMS takes."""


def printed_times() -> pl.DataFrame:
    """Return one row a binding of the report, named in words: ``PRINTED``."""
    found = find_reported("wps-2011", "time_per_run_ms", scenario="binding-comparison")
    return conditions(found, "binding", "object").with_columns(pl.col("binding").replace(NAMES))


def calls_frame(two: Trials, one: Trials) -> pl.DataFrame:
    """Return one row a trial of a way: time and counters of a call; ``jvms`` is 2 or 1."""
    frames = []
    for trials, jvms in ((two, 2), (one, 1)):
        calls = Quantity("call_ms", "Call (ms)", measure=_per_call(_APP, "binding_call_s", 1e3))
        frame = frame_of(trials, calls, *_COUNTED, *_CPU)
        frames.append(frame.with_columns(jvms=pl.lit(jvms)))
    return pl.concat(frames).filter(pl.col("way") != EVERY)


def times_direct(apart: pl.DataFrame, times: pl.DataFrame) -> pl.DataFrame:
    """Return how many times the direct call each other way takes, as ``summaries.summarize``.

    ``times`` is the summary of the times, whose columns these are.
    """
    rows = []
    for way in WAYS[1:]:
        for size in SIZES:
            found = summaries.ratio(apart, "call_ms", at(way, size), at("direct", size))
            ends = {"mean": found.estimate, "low": found.low, "high": found.high}
            rows.append({"way": way, "size": size} | ends | {"n": found.n})
    return pl.DataFrame(rows, schema=times.schema)


def beside_report(results: pl.DataFrame) -> pl.DataFrame:
    """Return one row a binding that the report has, too: ``BESIDE``.

    How many times the direct call it takes is the ratio of ``times_direct``, block by block.
    """
    printed = printed_times()
    rows = [
        (
            way,
            printed.filter(pl.col("binding") == NAMES[name])["value"].item(),
            summaries.mean_of(results, "call_ms", at(way)),
            _times_direct(results, way),
        )
        for way, name in _LIKE.items()
    ]
    numbers = ("report", "here", "here_times")
    schema = {"way": pl.String, **dict.fromkeys(numbers, pl.Float64)}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return frame.with_columns(report_times=pl.col("report") / pl.col("report").first())


def _times_direct(results: pl.DataFrame, way: str) -> float | None:
    if way == "direct":
        return 1.0
    return summaries.ratio(results, "call_ms", at(way), at("direct")).estimate


def border_times(results: pl.DataFrame) -> pl.DataFrame:
    """Return the time of a call by size: in the process, to its own JVM, and to another."""
    places = {"direct": "within the process", "rpc": "to another JVM"}
    own = pl.col("jvms") == 1
    where = pl.when(own).then(pl.lit("to its own JVM")).otherwise(pl.col("way").replace(places))
    shown = results.filter(pl.col("way").is_in(list(places))).with_columns(where=where)
    return summaries.summarize(shown, ["size", "where"], "call_ms")


def pools_frame(trials: Trials) -> pl.DataFrame:
    """Return one row a way and a pool of threads that served its calls: ``POOLS``."""
    served = [
        rises(trial.bundle, "binding_served_total")
        .filter(pl.col("rise") > 0)
        .with_columns(way=pl.lit(trial.treatment["way"]))
        for trial in trials
        if trial.verdict != "failed" and trial.treatment["way"] != EVERY
    ]
    every = pl.concat([pl.DataFrame(schema={**RISES, "way": pl.String}), *served])
    by = every.group_by("way", "source", "label", maintain_order=True)
    return by.agg(pl.col("rise").sum()).with_columns(
        pl.col("source").str.strip_prefix("server/"), pl.col("rise").cast(pl.Int64)
    )


def counted(apart: pl.DataFrame) -> pl.DataFrame:
    """Return one row a way and size: ``PER_CALL`` and CPU times."""
    return means_of(apart, ["way", "size"], *_COUNTED, *_CPU)


def cpu_parts(per: pl.DataFrame) -> pl.DataFrame:
    """Return the CPU time of a call by way and role, in ms."""
    roles = {"sender": "app_cpu_ms", "receiver": "backend_cpu_ms", "broker": "broker_cpu_ms"}
    return per.select("way", **roles).unpivot(
        index="way", variable_name="role", value_name="cpu_ms"
    )


def jms_call(found: pl.DataFrame, size: str, counter: str) -> float:
    """Return what a call over JMS takes with a payload; NaN where it was not measured."""
    one = found.filter((pl.col("way") == "jms") & (pl.col("size") == size))
    return next(iter(one[counter].to_list()), float("nan"))
