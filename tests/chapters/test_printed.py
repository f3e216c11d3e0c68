"""One report's numbers keep their marks, and none is lost between the tables."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from sizebook.chapters.reported.printed import (
    PrintedReport,
    cross_table,
    listing,
    number_words,
    with_words,
)
from sizebook.store import Project

PROJECT = Project(Path(__file__).resolve().parents[2])


@pytest.mark.parametrize(
    ("value", "statistic", "note", "words"),
    [
        (36.3, "mean", None, "36.3"),
        (113499.0, "total", None, "113,499"),
        (30.0, "estimate", "a round figure", "≈\u00a030"),
        (60.0, "min", "'> 1 minute' (lower bound)", "≥\u00a060"),
        (0.5, "max", "'less than 1/2 MB'", "≤\u00a00.5"),
        (21.0, "min", "minimum of several attempts", "21"),
        (7.0, "total", "derived from time stamps", "7\u00a0†"),
        (38.0, "estimate", "assigned by context", "≈\u00a038\u00a0†"),
    ],
)
def test_a_value_has_its_marks(value: float, statistic: str, note: str | None, words: str) -> None:
    """About, bound, derived; a plain reading has none."""
    assert words == number_words(value, statistic, note)  # type: ignore[arg-type]


def test_what_is_taken_does_not_come_again() -> None:
    """Taken rows and the rest together are the report, each once."""
    report = PrintedReport("gateway-2012", PROJECT)
    times = report.take("flight-list-and-details", "stack", "threads", metric="total_time_s")
    assert times.height + report.rest().height == report.everything().height == report.counts[0]
    assert set(times["metric"]) == {"total_time_s"}
    assert "total_time_s" not in set(report.rest()["metric"])
    assert times["threads"].null_count() == 2


def test_conditions_can_be_asked_for_and_excluded() -> None:
    """``said`` needs all of its names, ``unsaid`` none of them; nothing left is an error."""
    report = PrintedReport("oneworld-2003", PROJECT)
    whole = report.take("web-html-benchmark", said=("cpu", "date"), unsaid=("tier",))
    assert not whole["treatment"].str.contains("tier=").any()
    assert whole["treatment"].str.contains("cpu=").all()
    with pytest.raises(ValueError, match="prints nothing such in web-html-benchmark"):
        report.take("web-html-benchmark", said=("nodes",))
    with pytest.raises(KeyError):
        PrintedReport("sap-2009", PROJECT)


def test_a_cross_table_joins_values_of_one_cell() -> None:
    """Two different values stand beside each other, equal ones once; a gap is a dash."""
    frame = pl.DataFrame(
        {
            "row": ["a", "a", "a", "b"],
            "level": ["x", "x", "x", "y"],
            "words": ["1", "2", "1", "≈ 3"],
        }
    )
    html = cross_table(frame, rows=["row"], columns="level", labels={"row": "Row"}).as_raw_html()
    assert ">1; 2</td>" in html
    assert html.count(">–</td>") == 2
    assert "printed as approximate" in html
    plain = cross_table(
        frame[:3], rows=["row"], columns="level", labels={}, note="so"
    ).as_raw_html()
    assert "printed as approximate" not in plain
    assert ">so</span>" in plain


def test_listings_and_tables_escape_what_the_data_hold() -> None:
    """A text with markup is shown as text."""
    frame = PrintedReport("wps-2011", PROJECT).everything().head(1)
    bad = with_words(frame.drop("words").with_columns(note=pl.lit("<script>1</script>")))
    html = listing(bad).as_raw_html()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_settings_leave_out_empty_columns() -> None:
    """Of these components no default is printed; of all of them some are."""
    report = PrintedReport("mii-2009", PROJECT)
    assert ">Default</th>" not in report.parameters("hardware", "software").as_raw_html()
    assert ">Default</th>" in report.parameters().as_raw_html()
    assert "falls to, from" in report.claims().as_raw_html()
