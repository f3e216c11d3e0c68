"""Charts, tables and summaries over tidy frames (synthetic numbers)."""

import polars as pl
import pytest

from sizebook.model.errors import UsageError
from sizebook.report import charts, conditions, find_reported, reported, summaries, tables

FRAME = pl.DataFrame(
    {
        "name": ["a", "a", "a", "b", "b", "b"],
        "users": [1] * 6,
        "replicate": [0, 1, 2] * 2,
        "verdict": ["valid"] * 5 + ["failed"],
        "total_time_s": [1.0, 1.1, 0.9, 2.0, 2.2, None],
    }
)


def test_a_failed_trial_has_no_part_in_a_mean():
    """Means are over usable replicates, and n says how many there were."""
    found = summaries.summarize(FRAME, ["name"], "total_time_s")
    assert found["n"].to_list() == [3, 2]
    assert found["mean"].to_list() == pytest.approx([1.0, 2.1])
    assert found["low"][0] < 1.0 < found["high"][0]


def test_a_ratio_of_whole_blocks_is_paired_and_of_others_is_not():
    """Complete blocks are compared block by block."""
    whole = FRAME.filter(pl.col("replicate") < 2)
    paired = summaries.ratio(whole, "total_time_s", {"name": "b"}, {"name": "a"})
    assert paired.estimate == pytest.approx(2.0)
    assert "by block" in paired.method
    loose = summaries.ratio(FRAME, "total_time_s", {"name": "b"}, {"name": "a"})
    assert "by block" not in loose.method
    assert summaries.words(paired, 1) == "2.0 (2.0 to 2.0, n = 2)"


def test_missing_treatments_are_said_not_made_up():
    """No trial, no number; one replicate, no interval."""
    nothing = summaries.ratio(FRAME, "total_time_s", {"name": "c"}, {"name": "a"})
    assert summaries.words(nothing) == "not known (no replicates)"
    one = FRAME.filter(pl.col("replicate") == 0)
    single = summaries.ratio(one, "total_time_s", {"name": "b"}, {"name": "a"})
    assert summaries.words(single) == "2.00 (n = 1, no interval)"


def test_curves_draw_intervals_only_where_there_are_any():
    """With one replicate the layer of intervals is left out, not drawn from nothing."""
    options = {"x": "users", "series": "name", "x_title": "users", "y_title": "time (s)"}
    full = summaries.summarize(FRAME, ["name", "users"], "total_time_s")
    single = full.with_columns(low=pl.lit(None, pl.Float64), high=pl.lit(None, pl.Float64))
    assert len(charts.curves(full, **options).to_dict()["layer"]) == 2
    assert "layer" not in charts.curves(single, **options).to_dict()


def test_no_interval_of_a_positive_quantity_reaches_zero():
    """Two replicates far apart, one of them zero: the interval is even on a logarithmic axis."""
    wide = FRAME.with_columns(total_time_s=pl.Series([2.0, 3.0, 100.0, 0.0, 5.0, None]))
    found = summaries.summarize(wide, ["name"], "total_time_s")
    for mean, low, high in found.select("mean", "low", "high").iter_rows():
        assert 0 < low < mean < high
        assert high / mean == pytest.approx(mean / low)
    options = {"x": "name", "series": "name", "x_title": "", "y_title": "time (ms)"}
    spec = charts.curves(found, **options, log_y=True).to_dict()
    assert spec["layer"][0]["encoding"]["y"]["field"] == "low"


def test_a_quantity_that_can_be_negative_keeps_its_plain_interval():
    """What a treatment gained or lost has an even interval, on both sides of zero, in every row."""
    signed = FRAME.with_columns(total_time_s=pl.Series([-1.0, 1.0, 3.0, 2.0, 4.0, None]))
    found = summaries.summarize(signed, ["name"], "total_time_s")
    assert found["low"][0] < 0
    for mean, low, high in found.select("mean", "low", "high").iter_rows():
        assert high - mean == pytest.approx(mean - low)


def test_axes_carry_units():
    """What the chart is told as a title stands at its axis."""
    full = summaries.summarize(FRAME, ["name"], "total_time_s")
    spec = charts.bars(full, category="name", y_title="time (s)").to_dict()
    assert "time (s)" in str(spec)
    parts = pl.DataFrame({"name": ["a", "a"], "role": ["x", "y"], "ms": [1.0, 2.0]})
    stacked = charts.stacked_bars(parts, category="name", part="role", value="ms", y_title="ms")
    assert stacked.to_dict()["encoding"]["x"]["title"] == "ms"


def test_a_cross_table_shows_intervals_and_dashes():
    """Both ends of the interval; a dash where nothing was measured; printed values beside."""
    full = summaries.summarize(FRAME, ["name", "users"], "total_time_s")
    printed = pl.DataFrame({"name": ["a"], "reported 1": ["38; 34"]})
    html = tables.intervals_table(
        full,
        rows="name",
        columns="users",
        row_label="Name",
        column_title="Seconds",
        digits=1,
        extra=printed,
        extra_title="Reported",
        extra_labels={"reported 1": "1"},
    ).as_raw_html()
    assert "1.0 (0.8 to 1.3)" in html
    assert ">38; 34</td>" in html
    assert f">{tables.MISSING}</td>" in html


def test_the_reported_data_are_all_there():
    """Rows as transcribed from the five reports; an unknown table is a clear message."""
    assert reported("measurements").height == 735
    assert reported("parameters").height == 264
    claims = reported("claims")
    assert claims.height == 204
    testable = claims.filter(pl.col("transferable").str.contains("^(yes|partly)"))
    assert testable.height == 172
    with pytest.raises(UsageError, match="measurements, parameters, claims"):
        reported("rumours")


def test_reported_values_are_found_by_their_conditions():
    """A treatment's parts may be given in any order; conditions become columns."""
    found = find_reported("gateway-2012", "total_time_s", "threads=1;protocol=sdata")
    assert found["value"].to_list() == [38.0]
    table = conditions(found, "threads", "topology")
    assert table.select("threads", "topology").row(0) == ("1", None)
    beside = summaries.beside({"x": found}, "name", "threads", ("1", "20"))
    assert beside.row(0) == ("x", "38", None)
