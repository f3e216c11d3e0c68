"""The words that stand for a chart follow from its specification."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl
import pytest

from sizebook.report.chart import prepare_chart
from sizebook.report.chart_words import describe_chart

FRAME = pl.DataFrame(
    {
        "users": [1, 5, 20],
        "seconds": [0.5, 2.25, 14148.0],
        "low": [0.25, 2.0, 12000.0],
        "name": ["a", "b", "a"],
    }
)


def words(chart: Any, *doubts: str) -> str:
    """Return the words for a chart as a page publishes it."""
    spec, _ = prepare_chart(chart, doubts)
    return describe_chart(spec)


def points() -> alt.Chart:
    """Return points over users."""
    return (
        alt.Chart(FRAME)
        .mark_point()
        .encode(x=alt.X("users:Q", title="users"), y=alt.Y("seconds:Q", title="time (s)"))
    )


def test_axes_have_titles_and_ranges() -> None:
    """Numbers as a range, names one by one."""
    assert words(points().encode(color="name:N")) == (
        "x axis: users, 1 to 20; y axis: time (s), 0.5 to 14,148; colours: a, b."
    )


def test_ordered_numbers_are_a_range_and_many_names_are_counted() -> None:
    """More than eight names are not all told."""
    frame = pl.DataFrame({"name": list("abcdefghij"), "n": [3] * 10})
    chart = alt.Chart(frame).mark_bar().encode(x=alt.X("n:Q", title="count"), y="name:N")
    assert words(chart) == "x axis: count, 3; y axis: a, b, c, d, e, f, g, h and 2 more."


def test_layers_share_their_axes() -> None:
    """A band below the line widens the range; the title is told once."""
    band = (
        alt.Chart(FRAME).mark_rule().encode(x="users:Q", y=alt.Y("low:Q", title=None), y2="seconds")
    )
    assert words(points() + band) == "x axis: users, 1 to 20; y axis: time (s), 0.25 to 14,148."


def test_views_beside_each_other_are_told_one_after_the_other() -> None:
    """Those that read the same once."""
    other = points().encode(y=alt.Y("low:Q", title="low (s)"))
    assert words(points() | other | points()) == (
        "x axis: users, 1 to 20; y axis: time (s), 0.5 to 14,148. "
        "x axis: users, 1 to 20; y axis: low (s), 0.25 to 12,000."
    )


def test_facets_name_their_columns() -> None:
    """What the panels are made by is told with them."""
    chart = points().facet(alt.Column("name:N", title="treatment"))
    assert words(chart).endswith("columns: treatment, a, b.")


def test_doubts_come_first() -> None:
    """Who does not see the picture is told the doubts that stand in it."""
    assert words(points(), "2 of 12 trials noisy").startswith("\u26a0 2 of 12 trials noisy. x axis")


@pytest.mark.parametrize("spec", [{}, {"mark": "bar"}, {"data": {"url": "x"}, "encoding": {}}])
def test_a_chart_without_data_says_nothing(spec: dict[str, Any]) -> None:
    """No words are made up."""
    assert describe_chart(spec) == ""
