"""What the page is made of: frames with the errors worked out, charts that can be drawn."""

import polars as pl
import pytest
from bench_results import make_ceiling, make_results, make_summary, make_truth

from bench import charts, frames
from sizebook.report.chart import prepare_chart, render_svg


def test_ceilings_stand_beside_each_other():
    """Fastest first; ratios are made within the rounds."""
    table = frames.ceiling_frame(make_ceiling())
    assert table["median"].to_list() == [41_000.0, 20_000.0]
    assert table["ratio"].to_list() == [None, 2.0]
    assert table["kind"].to_list() == ["ours", "peer"]


def test_errors_are_medians_of_the_rounds():
    """Raw against the law alone, net against the law with the way there and back."""
    table = frames.truth_frame(make_truth())
    ours = table.filter((pl.col("tool") == "Sizebook") & (pl.col("server") == "law"))
    first = ours.row(0, named=True)
    assert (first["percentile"], first["rounds"]) == (50.0, 2)
    assert first["error"] == pytest.approx(62.5)
    assert (first["error_low"], first["error_high"]) == pytest.approx((50.0, 75.0))
    assert first["net"] == pytest.approx(12.5)
    assert first["net_percent"] == pytest.approx(0.25)
    assert first["within"] is True


def test_what_is_off_is_called_so():
    """A tool that says 10 where the truth is 100 is not within 1 % or 50 us."""
    table = frames.truth_frame(make_truth())
    peer = table.filter((pl.col("server") == "freeze") & (pl.col("tool") != "Sizebook"))
    assert peer["within"].to_list() == [False, False]


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


def test_every_chart_is_drawn():
    """As the page draws it: fixed width, SVG without a browser."""
    table = frames.truth_frame(make_truth())
    ours = table.filter((pl.col("tool") == "Sizebook") & (pl.col("server") == "law"))
    drawn = {
        "ceilings": charts.ceilings(frames.ceiling_frame(make_ceiling())),
        "percentiles": charts.percentiles(table.filter(pl.col("server") == "freeze")),
        "errors": charts.errors(ours),
    }
    for name, chart in drawn.items():
        spec, _ = prepare_chart(chart)
        assert "<svg" in render_svg(spec), name
