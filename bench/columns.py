"""Columns of the tables about the instrument: names, decimals, headings."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from bench.records import Results
from sizebook.report.quantities import Quantity

VERSIONS = (
    Quantity("what", "What"),
    Quantity("version", "Version"),
    Quantity("why", "Missing because"),
)
_RATE, _OVER = "Requests per second", "Ours over it"
CEILING = (
    Quantity("tool", "Generator"),
    Quantity("median", "Median", 0, _RATE),
    Quantity("low", "Smallest", 0, _RATE),
    Quantity("high", "Largest", 0, _RATE),
    Quantity("ratio", "Median", 2, _OVER),
    Quantity("ratio_low", "Smallest", 2, _OVER),
    Quantity("ratio_high", "Largest", 2, _OVER),
    Quantity("server_cpu", "Server CPU (%)", 0),
)
_LESS, _WITHIN = "Recorded less", "Within 1 % or 50 µs"
TRUTH = (
    Quantity("law", "Law"),
    Quantity("rate", "Per second", 0),
    Quantity("percentile", "Percentile"),
    Quantity("truth", "Truth (ms)", 3),
    Quantity("recorded", "Recorded (ms)", 3),
    Quantity("law_error", "Law (µs)", 0, _LESS),
    Quantity("way_error", "Law and way (µs)", 0, _LESS),
    Quantity("server_error", "Server (µs)", 0, _LESS),
    Quantity("within_law", "Law", under=_WITHIN),
    Quantity("within_way", "Law and way", under=_WITHIN),
    Quantity("within_server", "Server", under=_WITHIN),
)
_MICROSECONDS = "Microseconds"
PARTS = (
    Quantity("law", "Law"),
    Quantity("rate", "Per second", 0),
    Quantity("part", "Part"),
    Quantity("p50", "p50", 0, _MICROSECONDS),
    Quantity("p99", "p99", 0, _MICROSECONDS),
    Quantity("p99.9", "p99.9", 0, _MICROSECONDS),
)
_OF = "Within 1 % or 50 µs of"
FREEZE = (
    Quantity("tool", "Tool"),
    Quantity("rate", "Asked for", 0),
    Quantity("achieved", "Achieved", 0),
    Quantity("percentile", "Percentile"),
    Quantity("truth", "Truth (ms)", 1),
    Quantity("answered", "Server (ms)", 1),
    Quantity("recorded", "Says (ms)", 1),
    Quantity("error_percent", "Error (%)", 1),
    Quantity("within_law", "Truth", under=_OF),
    Quantity("within_server", "Server", under=_OF),
)
PROBES = (
    Quantity("what", "What reads once a second"),
    Quantity("percent", "CPU (% of one core)", 2),
)
SUMMARY = (
    Quantity("what", "What"),
    Quantity("requests", "Requests", 0),
    Quantity("wall_s", "Wall (s)", 2),
    Quantity("cpu_s", "CPU (s)", 2),
    Quantity("peak_mib", "Peak memory (MiB)", 0),
    Quantity("per_s", "Requests per second", 0),
)
RATES = (
    Quantity("method", "Method"),
    Quantity("name", "Case"),
    Quantity("share", "Found (%)", 1),
    Quantity("stated", "Should be"),
    Quantity("trials", "Simulated"),
)
TURNS = (
    Quantity("block", "Block"),
    Quantity("way", "Compared"),
    Quantity("difference", "Difference (%)", 1),
    Quantity("by_rounds", "Error by rounds (%)", 1),
    Quantity("speed", "Machine's speed wandered (%)", 0),
)
_OVER_FIRST = "Rate over the first's"
PLANTED = (
    Quantity("side", "Side"),
    Quantity("ratio", "Ratio", 3, _OVER_FIRST),
    Quantity("low", "From", 3, _OVER_FIRST),
    Quantity("high", "To", 3, _OVER_FIRST),
    Quantity("told", "Told apart", under="Choices of four blocks"),
    Quantity("choices", "Of", under="Choices of four blocks"),
)
_READ = {
    "ours_percent": "All our probes",
    "psutil_percent": "A plain psutil loop",
    "jstat_percent": "jstat -gc, once running",
}


def versions_frame(found: Results) -> pl.DataFrame:
    """Return one row a program that results used or lacked: ``VERSIONS``."""
    return pl.DataFrame(
        {
            "what": list(found.versions) + list(found.missing),
            "version": [*found.versions.values()] + [None] * len(found.missing),
            "why": [None] * len(found.versions) + [*found.missing.values()],
        }
    )


def probes_frame(metrics: Mapping[str, float]) -> pl.DataFrame:
    """Return one row a reader that was measured: ``PROBES``."""
    rows = [(words, metrics[name]) for name, words in _READ.items() if name in metrics]
    return pl.DataFrame(rows, schema=["what", "percent"], orient="row")


def said(frame: pl.DataFrame, tool: str, percentile: float, column: str) -> float | None:
    """Return what a tool's row of a percentile has in a column; None without such a row."""
    rows = frame.filter((pl.col("tool") == tool) & (pl.col("percentile") == percentile))
    return rows[column].item() if rows.height else None
