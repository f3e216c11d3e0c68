"""Quantities: measured once a trial, and headed and rounded alike in every table."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from sizebook.report.quantities import Quantity, frame_of, means, means_table, pick, rows_table

QUANTITIES = {
    "rate": Quantity("Per second", 0, lambda _: 10.4),
    "share": Quantity("Share (%)", 2),
}
FRAME = pl.DataFrame(
    {
        "way": ["b", "b", "a"],
        "verdict": ["valid", "noisy", "failed"],
        "rate": [1.0, 3.0, 9.0],
        "share": [0.5, None, 0.1],
    }
)


class Group:
    """Trials that tell which measures they were asked for."""

    def frame(self, **measures: Any) -> pl.DataFrame:
        return pl.DataFrame({name: [measure(None)] for name, measure in measures.items()})


def test_only_what_is_measured_is_measured() -> None:
    """A quantity that others are computed into is no column of the trials' frame."""
    trials: Any = Group()
    assert frame_of(trials, QUANTITIES).to_dicts() == [{"rate": 10.4}]


def test_means_are_of_usable_trials() -> None:
    """Failed trials have no part, a missing value counts for nothing, the first come first."""
    rows = means(FRAME, ["way"], ["rate", "share"])
    assert rows.to_dicts() == [{"way": "b", "rate": 2.0, "share": 0.5}]


def test_tables_head_and_round_as_the_quantity_says() -> None:
    """By treatment or row by row, in the order asked for."""
    html = means_table(FRAME, {"way": "Way"}, QUANTITIES, note="a note").as_raw_html()
    assert [word in html for word in ("Way", "Per second", "Share (%)", ">2<", ">0.50<")] == (
        [True] * 5
    )
    assert "a note" in html
    share = pick(QUANTITIES, "share")
    html = rows_table(FRAME, {"way": "Way"}, share, spanners={"All": ["share"]}).as_raw_html()
    assert "Per second" not in html
    assert html.count("<tr>") >= FRAME.height


def test_an_unknown_quantity_is_an_error() -> None:
    """A name that the chapter does not have is a slip, not an empty column."""
    with pytest.raises(KeyError):
        pick(QUANTITIES, "rates")
