"""What runs over flights tell: frames, and the quantities of their tables."""

from __future__ import annotations

import polars as pl

from sizebook.lab import Trials
from sizebook.report import conditions, find_reported, measures, summaries
from sizebook.report.quantities import Quantity, frame_of, means_of

_GATEWAY = "gateway-2012"
PRINTED = (
    Quantity("stack", "Service"),
    Quantity("protocol", "Protocol"),
    Quantity("threads", "Threads"),
    Quantity("wp_no_dia", "Work processes"),
    Quantity("value", "Seconds"),
    Quantity("statistic", "Kind"),
)
"""A total time as the report prints it."""
_BYTES = (
    Quantity("list_bytes", "List, body", 0, measure=measures.mean_bytes("body_bytes", "list")),
    Quantity(
        "detail_bytes", "Detail, body", 0, measure=measures.mean_bytes("body_bytes", "detail")
    ),
    Quantity(
        "detail_received",
        "Detail on the wire",
        0,
        measure=measures.mean_bytes("received_bytes", "detail"),
    ),
)
_RUN_BYTES = Quantity("run_bytes", "Run on the wire", 0, measure=measures.run_received_bytes)
SIZES = (
    Quantity("representation", "Representation"),
    *_BYTES,
    Quantity("run_kb", "Run on the wire (kB)", 0),
    Quantity("reported", "Detail, reported", 0),
)
"""Bytes of a representation."""


def printed_times() -> pl.DataFrame:
    """Return one row a total time that the report and its comments print: ``PRINTED``."""
    found = find_reported(_GATEWAY, "total_time_s")
    return conditions(found, "stack", "protocol", "threads", "wp_no_dia")


def printed_details() -> pl.DataFrame:
    """Return the reported bytes of one detail, Atom first: ``treatment``, ``value``."""
    forms = {"odata-atom-compat": "atom", "rest-json": "json"}
    return summaries.lookup(
        {
            name: find_reported(_GATEWAY, "response_bytes", f"format={form};request=detail")
            for name, form in forms.items()
        }
    )


def printed_beside() -> pl.DataFrame:
    """Return one row a representation with the report's seconds for 1 and for 20 threads."""
    return summaries.beside(
        {
            "odata-atom-compat": find_reported(_GATEWAY, "total_time_s", "protocol=sdata"),
            "odata-atom": find_reported(_GATEWAY, "total_time_s", "protocol=odata").head(1),
            "rest-json": find_reported(_GATEWAY, "total_time_s", "stack=jersey-caf-jco"),
        },
        name="representation",
        condition="threads",
        levels=("1", "20"),
    )


def formats_frame(trials: Trials) -> pl.DataFrame:
    """Return one row a trial: bytes, CPU time, total time in s, rate and latency."""
    times = trials.frame(
        total_time_s=measures.total_time_s,
        app_cpu_ms=measures.cpu_ms_per_request("app"),
        database_cpu_ms=measures.cpu_ms_per_request("database"),
        throughput_per_s=measures.throughput_per_s,
        latency_p50_ms=measures.latency_ms(0.5, "detail"),
    )
    sized = frame_of(trials, *_BYTES, _RUN_BYTES)
    names = [one.name for one in (*_BYTES, _RUN_BYTES)]
    return pl.concat([times, sized.select(names)], how="horizontal")


def sizes_frame(results: pl.DataFrame) -> pl.DataFrame:
    """Return one row a representation: ``SIZES``."""
    found = means_of(results, ["representation"], *_BYTES, _RUN_BYTES)
    return found.with_columns(run_kb=pl.col("run_bytes") / 1e3).join(
        printed_details().rename({"value": "reported"}),
        left_on="representation",
        right_on="treatment",
        how="left",
        maintain_order="left",
    )


def cpu_parts(results: pl.DataFrame) -> pl.DataFrame:
    """Return the mean CPU time of a request by representation and role, in ms."""
    means = summaries.means(results, ["representation"], "app_cpu_ms", "database_cpu_ms")
    return means.rename({"app_cpu_ms": "app", "database_cpu_ms": "database"}).unpivot(
        index="representation", variable_name="role", value_name="cpu_ms"
    )
