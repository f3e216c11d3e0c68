"""What the page is made of: frames with the errors worked out, charts that can be drawn."""

import polars as pl
import pytest
from bench_results import (
    make_ceiling,
    make_planted,
    make_results,
    make_summary,
    make_truth,
    make_turns,
)

from bench import charts, frames
from sizebook.report.chart import prepare_chart, render_svg


def test_ceilings_stand_beside_each_other():
    """Fastest first; ratios are made within the rounds."""
    table = frames.ceiling_frame(make_ceiling())
    assert table["median"].to_list() == [41_000.0, 20_000.0]
    assert table["ratio"].to_list() == [None, 2.0]
    assert table["kind"].to_list() == ["ours", "peer"]


def test_errors_are_medians_of_the_rounds():
    """Against the law alone, law and way, and the server's clock."""
    table = frames.truth_frame(make_truth())
    first = table.row(0, named=True)
    assert (first["tool"], first["percentile"], first["rounds"]) == ("Sizebook", 50.0, 2)
    assert first["law_error"] == pytest.approx(62.5)
    assert (first["error_low"], first["error_high"]) == pytest.approx((50.0, 75.0))
    assert first["way_error"] == pytest.approx(12.5)
    assert first["server_error"] == pytest.approx(37.5)
    assert first["allowed"] == pytest.approx(50.0)
    assert (first["within_law"], first["within_way"], first["within_server"]) == (False, True, True)
    assert (first["requests"], first["peak"], first["contradictions"]) == (32_000, 41, 2)


def test_what_is_off_is_called_so():
    """A tool that says 10 where the truth is 100 is not within 1 % or 50 us."""
    table = frames.truth_frame(make_truth())
    peer = table.filter((pl.col("server") == "freeze") & (pl.col("tool") != "Sizebook"))
    assert peer["within_law"].to_list() == [False, False, None]
    assert peer["within_server"].null_count() == 3


def test_a_percentile_of_too_few_requests_is_not_judged():
    """Fifty of all rounds have to lie beyond it: 32,000 requests are too few for a p99.9."""
    table = frames.truth_frame(make_truth()).filter(
        (pl.col("server") == "law") & (pl.col("tool") == "Sizebook") & (pl.col("percentile") > 99.5)
    )
    assert table["requests"].to_list() == [32_000, 60_000]
    assert table["within_law"].to_list() == [None, True]
    judged = frames.within_counts(table)
    assert judged == {"law": (1, 1), "way": (0, 1), "server": (1, 1)}


def test_laws_stay_apart():
    """Each law has its own rows, the first law first."""
    table = frames.truth_frame(make_truth())
    assert table["law"].unique(maintain_order=True).to_list() == [
        "lognormal:4000,0.5",
        "lognormal:9000,0.5",
    ]
    parts = frames.parts_frame(make_truth())
    assert parts["part"].to_list() == ["late start", "way back"] * 2
    assert parts.row(0, named=True)["p99.9"] == 9.0


def test_results_of_version_1_have_a_frame_too():
    """One law, no parts, no open ceiling."""
    truth = make_truth()
    runs = tuple(run.model_copy(update={"law": "", "parts_us": {}}) for run in truth.runs[:3])
    old = truth.model_copy(update={"runs": runs, "open_ceiling": None, "closed_per_s": None})
    assert frames.truth_frame(old)["law"].unique().to_list() == [old.law]
    assert frames.parts_frame(old).height == 0


def test_nothing_measured_is_an_empty_frame():
    """Every share of the ceiling failed."""
    nothing = make_truth().model_copy(update={"runs": ()})
    assert frames.truth_frame(nothing).height == 0
    assert frames.parts_frame(nothing).height == 0


def test_speed_of_the_summary_is_compared_within_rounds():
    """10 million requests in 3 s beside 600,000 samples in 9 s: 50 times, in the first round."""
    found = make_summary()
    assert frames.summary_ratio(found).values[0] == pytest.approx(50.0)
    assert frames.summary_frame(found)["what"].to_list() == [
        "Sizebook",
        "Sizebook",
        "JMeter's dashboard",
    ]
    alone = found.model_copy(update={"dashboard_wall_s": None})
    assert frames.summary_ratio(alone) is None
    assert frames.summary_frame(alone).height == 2


def test_rates_say_what_was_stated():
    """Share found and share promised, in percent."""
    row = frames.rates_frame(make_results().statistics).row(0, named=True)
    assert (row["share"], row["stated"], row["trials"]) == (94.0, "about 95%", 100)


def test_equal_stacks_are_told_by_block_and_way():
    """Differences in percent of the second stack's rate; what was not told is missing."""
    found = frames.turns_frame(make_turns())
    assert found["way"].to_list() == ["in turns"] * 2 + ["one after the other"] * 2
    assert found["difference"].round(1).to_list() == [1.0, -1.0, 22.1, -16.6]
    assert found["by_rounds"].to_list() == [1.0, 2.0, None, None]
    assert found["speed"].to_list() == [10.0] * 4


def test_a_planted_slowdown_is_told_and_none_is_not():
    """Of all five choices of four blocks each tells the slower side, and none the equal one."""
    equal, slower = frames.planted_frame(make_planted()).rows(named=True)
    assert (equal["told"], equal["choices"]) == (0, 5)
    assert (slower["told"], slower["choices"]) == (5, 5)
    assert equal["low"] < 1 < equal["high"]
    assert slower["side"] == "5% more work" and slower["high"] < 1


def test_every_chart_is_drawn():
    """As the page draws it: fixed width, SVG without a browser."""
    table = frames.truth_frame(make_truth())
    ours = table.filter((pl.col("tool") == "Sizebook") & (pl.col("server") == "law"))
    drawn = {
        "ceilings": charts.ceilings(frames.ceiling_frame(make_ceiling())),
        "percentiles": charts.percentiles(table.filter(pl.col("server") == "freeze")),
        "errors": charts.errors(ours),
        "differences": charts.differences(frames.turns_frame(make_turns())),
    }
    for name, chart in drawn.items():
        spec, _ = prepare_chart(chart)
        assert "<svg" in render_svg(spec), name
