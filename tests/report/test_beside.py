"""Our ratios stand beside the printed ones, also where one of them is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from sizebook.model.errors import UsageError
from sizebook.report.beside import beside_reported, ratios_chart, ratios_table
from sizebook.report.chart import prepare_chart, render_svg
from sizebook.stats.intervals import Interval
from sizebook.store import Project

PROJECT = Project(Path(__file__).resolve().parents[2])
MEASURED = {
    "gw-size-1": Interval(2.9, 2.8, 3.0, 0.95, 5, "bootstrap"),
    "gw-payload-1": Interval(1.4, 1.2, 1.6, 0.95, 5, "bootstrap"),
    "gw-threads-1": Interval(0.3, None, None, 0.95, 1, "none", "one replicate"),
    "gw-tuning-1": Interval(None, None, None, 0.95, 0, "none", "not run"),
}


def test_rows_hold_both_ratios() -> None:
    """One row a claim in the order given; what is missing is null."""
    frame = beside_reported(MEASURED, {"gw-size-1": "size of a detail"}, PROJECT)
    assert frame["claim_id"].to_list() == list(MEASURED)
    assert frame["label"].to_list()[:2] == ["size of a detail", "gw-payload-1"]
    assert frame["reported"].to_list() == [3.026, None, 0.2857, 0.7812]
    assert frame["estimate"].to_list() == [2.9, 1.4, 0.3, None]
    assert frame["n"].to_list() == [5, 5, 1, 0]
    assert beside_reported({}, project=PROJECT).is_empty()


def test_an_unknown_claim_is_refused() -> None:
    """A typing error in an id does not make an empty row."""
    with pytest.raises(UsageError, match="gw-size-1"):
        beside_reported({"gw-sice-1": MEASURED["gw-size-1"]}, project=PROJECT)


def test_the_table_shows_intervals_and_dashes() -> None:
    """Ratio with interval, without, and none at all."""
    html = ratios_table(beside_reported(MEASURED, project=PROJECT)).as_raw_html()
    for cell in (">2.90 (2.80 to 3.00)</td>", ">0.30</td>", ">–</td>", ">3.03</td>"):
        assert cell in html


def test_the_chart_has_a_mark_for_each_ratio_there_is() -> None:
    """Three measured, three reported; intervals only where there are some; one claim works too."""
    spec, fluid = prepare_chart(ratios_chart(beside_reported(MEASURED, project=PROJECT)))
    assert fluid
    rows = [row for rows in spec["datasets"].values() for row in rows if "kind" in row]
    assert [row["kind"] for row in rows] == ["measured"] * 3 + ["reported"] * 3
    assert render_svg(spec).startswith("<svg")
    alone = {"gw-threads-1": MEASURED["gw-threads-1"]}
    spec, _ = prepare_chart(ratios_chart(beside_reported(alone, project=PROJECT)))
    assert len(spec["layer"]) == 2
    assert render_svg(spec).startswith("<svg")
