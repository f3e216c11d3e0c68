"""Columns that readers have found, made a table of requests: times checked, words as numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sizebook.judge.refusals import refused
from sizebook.judge.results import RequestTable

_LATEST_NS = 1 << 62
_LONGEST_NS = 1 << 52
"""52 days: no latency is longer, and sums of millions of them stay exact."""


def make_table(
    path: Path, frame: pl.DataFrame, *, clock_ns: int, grain_ns: int, ended: bool = False
) -> tuple[RequestTable, int]:
    """Return the table of a frame, and how many of its rows cannot be used.

    Columns: ``time_ns`` and ``latency_ns`` (whole numbers), ``failed``, ``name`` (text), and where
    there are such ``thread`` (text) and ``running``. ``ended``: the times are those of the ends.
    Raises UsageError if no row is left.
    """
    good = frame.filter(
        pl.col("time_ns").is_between(1, _LATEST_NS).fill_null(False)
        & pl.col("latency_ns").is_between(0, _LONGEST_NS).fill_null(False)
    )
    if good.is_empty():
        found = f"{frame.height} rows, and none with a time and a latency"
        raise refused(path, found, "name the file that the tool wrote, whole")
    time_ns = good["time_ns"].to_numpy()
    latency_ns = good["latency_ns"].to_numpy()
    names, name = code_words(good["name"])
    thread = code_words(good["thread"])[1] if "thread" in good.columns else None
    running = None
    if "running" in good.columns and good["running"].null_count() == 0:
        running = good["running"].cast(pl.Int32).to_numpy()
    table = RequestTable(
        start_ns=time_ns - latency_ns if ended else time_ns,
        latency_ns=latency_ns,
        failed=good["failed"].fill_null(True).to_numpy(),
        name=name,
        names=names,
        clock_ns=clock_ns,
        grain_ns=grain_ns,
        thread=thread,
        running=running,
    )
    return table, frame.height - good.height


def code_words(words: pl.Series) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Return the distinct words and each row's place among them."""
    coded = words.fill_null("").cast(pl.String).cast(pl.Categorical)
    physical = coded.to_physical()
    found = pl.DataFrame({"word": coded, "code": physical}).unique("code").sort("code")
    places = np.zeros(int(physical.max() or 0) + 1, dtype=np.int32)  # type: ignore[arg-type]
    places[found["code"].to_numpy()] = np.arange(found.height, dtype=np.int32)
    return tuple(found["word"].cast(pl.String)), places[physical.to_numpy()]


def whole_number(column: str) -> Any:
    """Return the expression of a column of text as whole numbers; null where it is none."""
    return pl.col(column).cast(pl.Int64, strict=False)
