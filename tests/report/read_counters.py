"""Readings of counters as a bundle has them, made up for a test."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import Any

import polars as pl

from sizebook.store.readings import Readings

_COLUMNS = {
    "time_ns": pl.Int64,
    "host": pl.Categorical,
    "source": pl.Categorical,
    "metric": pl.Categorical,
    "value": pl.Float64,
}


def read_counters(rows: Iterable[Sequence[object]]) -> dict[str, Any]:
    """Return ``counters`` and ``readings`` of a bundle.

    Rows of (time, host, source, metric, value), or of (time, source, metric, value) on one host.
    """
    whole = [row if len(row) == len(_COLUMNS) else (row[0], "local", *row[1:]) for row in rows]
    table = pl.DataFrame(whole, schema=_COLUMNS, orient="row")
    return {"counters": table, "readings": Readings.of(table)}


def bundle_with(rows: Iterable[Sequence[object]]) -> SimpleNamespace:
    """Return a bundle of which nothing but its readings is known, and that it took no turns."""
    record = SimpleNamespace(execution=SimpleNamespace(turns=()))
    return SimpleNamespace(record=record, **read_counters(rows))
