"""nginx: what one of its answers takes, and the columns of the tables that show it."""

from __future__ import annotations

import polars as pl

from sizebook.report import measures
from sizebook.report.counter_increase import rise_per_request
from sizebook.report.quantities import Quantity, means_of

_LATENCY = "Latency (ms)"
ANSWER = (
    Quantity("cpu_ms", "CPU per request (ms)", 3, measure=measures.cpu_ms_per_request("web")),
    Quantity("p50_ms", "median", 3, _LATENCY, measures.latency_ms(0.5)),
    Quantity("p99_ms", "99th percentile", 3, _LATENCY, measures.latency_ms(0.99)),
    Quantity(
        "received", "Bytes received", 0, measure=measures.mean_bytes("received_bytes", "file")
    ),
    Quantity(
        "opened",
        "Connections per request",
        3,
        measure=rise_per_request("server/web-", "told_total/stub_status_accepted_total"),
    ),
)
"""What one answer takes; connections are as nginx counts them."""
FILES = (Quantity("kib", "File (KiB)"), Quantity("sendfile", "sendfile"), *ANSWER)
CONNECTIONS = (Quantity("keep_alive", "Kept"), Quantity("workers", "Workers"), *ANSWER)
COMPRESSION = (Quantity("gzip", "gzip"), *ANSWER)


def answers_by(frame: pl.DataFrame, *factors: str) -> pl.DataFrame:
    """Return ``ANSWER`` as means over usable trials, one row a treatment, sorted by its levels."""
    return means_of(frame, factors, *ANSWER).sort(factors)


def filled(configuration: str, **levels: object) -> str:
    """Return a configuration with its settings: each ``$name`` becomes that level.

    What stands in braces stays: it is known only at the start.
    """
    for name, level in levels.items():
        configuration = configuration.replace(f"${name}", str(level))
    return configuration
