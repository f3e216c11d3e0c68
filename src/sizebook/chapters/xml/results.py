"""What the trials of documents tell: frames, and the quantities of their tables."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from sizebook.lab import Trials
from sizebook.lab.trials import Measure
from sizebook.report import measures, reported, summaries
from sizebook.report.counter_increase import rise_per_request
from sizebook.report.quantities import Quantity, frame_of, means_of

_APP, _JVM = "server/app-", "jvm/app-"
_CPU_S = ("cpu_user_s", "cpu_system_s")
CLAIMS = (
    Quantity("claim_id", "Claim"),
    Quantity("statement", "What it says"),
    Quantity("reported_basis", "Where"),
)
"""A claim of the report."""


def _per_document(source: str, *metrics: str) -> Measure:
    """Return a measure: what counters rise by in the measured phase, for each document."""
    return measures.rise_in_phase(source, *metrics, by=(_APP, "documents_total"))


_CPU = "CPU time (ms)"
_APP_MS = Quantity("app_ms", "All of the nodes", 1, _CPU, _per_document("process/app-", *_CPU_S))
_DATABASE_MS = Quantity(
    "database_ms", "Database", 2, _CPU, _per_document("process/database-", *_CPU_S)
)
_COUNTED = (
    Quantity("transform_ms", "Transforming", 1, _CPU, _per_document(_APP, "document_cpu_s")),
    _APP_MS,
    _DATABASE_MS,
    Quantity(
        "allocated_mb",
        "Allocated (MB)",
        1,
        measure=_per_document(_APP, "document_allocated_bytes"),
    ),
    Quantity("pauses_ms", "Stopped by the collector (ms)", 2, measure=_per_document(_JVM, "gc_s")),
    Quantity("compiling_ms", "Compilers at work (ms)", 1, measure=_per_document(_JVM, "jit_s")),
    Quantity("latency_p50_ms", "Answer, median (ms)", 0, measure=measures.latency_ms(0.5)),
)
PER_DOCUMENT = (Quantity("way", "Way"), Quantity("nodes", "Nodes"), *_COUNTED)
"""What one document takes."""
_AVAILABLE = "Available on the machine"
_HELD = (
    Quantity("available", "Mean", 0, _AVAILABLE, measures.level("host", "memory_available_bytes")),
    Quantity(
        "least", "Least", 0, _AVAILABLE, measures.level("host", "memory_available_bytes", "min")
    ),
    Quantity(
        "resident", "Held by the node", 0, measure=measures.level("process/app-", "rss_bytes")
    ),
    Quantity("alive", "Left by a collection", 0),
    Quantity("old", "Old generation", 0, measure=measures.level(_JVM, "space_used_bytes/old")),
)
MEMORY = (Quantity("way", "Way"), *_HELD)
"""Memory with a way alone in its JVM, in MB."""


def stated() -> pl.DataFrame:
    """Return what the report says of the two designs: ``CLAIMS`` and more."""
    ours = (pl.col("source") == "mii-2009") & (pl.col("scenario") == "xml-transformation")
    return reported("claims").filter(ours)


def documents_frame(trials: Mapping[str, Trials]) -> pl.DataFrame:
    """Return one row a trial of every layout: ``PER_DOCUMENT``, rates and shares.

    The design without a factor ``nodes`` has one node.
    """
    frames = []
    for group in trials.values():
        more = group.frame(
            throughput_per_s=measures.throughput_per_s,
            failed_share=measures.failed_share,
            stored=rise_per_request(_APP, "documents_stored_total"),
            result_kb=_per_document(_APP, "document_out_bytes"),
            cpu_share=measures.stack_cpu_share,
        )
        counted = frame_of(group, *_COUNTED).select(one.name for one in _COUNTED)
        frame = pl.concat([more, counted], how="horizontal")
        if "nodes" not in frame.columns:
            frame = frame.with_columns(nodes=pl.lit(1).cast(pl.Int64))
        frames.append(frame)
    return (
        pl.concat(frames, how="diagonal")
        .with_columns(
            pl.col("transform_ms", "app_ms", "database_ms", "pauses_ms", "compiling_ms") * 1e3,
            pl.col("allocated_mb") / 1e6,
            pl.col("result_kb") / 1e3,
        )
        .with_columns(cpu_ms=pl.col("app_ms") + pl.col("database_ms"))
    )


def per_document(results: pl.DataFrame) -> pl.DataFrame:
    """Return one row a way and layout: ``PER_DOCUMENT``."""
    return means_of(results, ["way", "nodes"], *_COUNTED)


def cpu_parts(per: pl.DataFrame) -> pl.DataFrame:
    """Return the CPU time of a document with one node by way and what it is spent on."""
    return (
        per.filter(pl.col("nodes") == 1)
        .select(
            "way",
            transforming="transform_ms",
            **{"rest of the node": (pl.col("app_ms") - pl.col("transform_ms")).clip(0)},
            database="database_ms",
        )
        .unpivot(index="way", variable_name="part", value_name="cpu_ms")
    )


def memory_frame(trials: Trials) -> pl.DataFrame:
    """Return one row a trial: ``MEMORY``; what a collection leaves is in the survivor spaces."""
    spaces = {name: measures.level(_JVM, f"space_used_bytes/{name}") for name in ("s0", "s1")}
    survivors = trials.frame(**spaces).select(list(spaces))
    frame = pl.concat([frame_of(trials, *_HELD), survivors], how="horizontal").with_columns(
        pl.col("available", "least", "resident", "old", "s0", "s1") / 1e6
    )
    return frame.with_columns(alive=pl.col("s0") + pl.col("s1"))


def memory_means(memory: pl.DataFrame) -> pl.DataFrame:
    """Return one row a way: ``MEMORY``."""
    return means_of(memory, ["way"], *_HELD)


def mean_by_way(results: pl.DataFrame, metric: str, ways: Mapping[str, str]) -> dict[str, float]:
    """Return the mean of a metric over all layouts of each way, by the name given to the way."""
    return {name: summaries.mean_of(results, metric, {"way": way}) for name, way in ways.items()}
