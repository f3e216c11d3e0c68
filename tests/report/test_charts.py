"""Charts of single values are built and drawn for every shape of data."""

from __future__ import annotations

import functools
import re
from typing import Any

import polars as pl
import pytest

from sizebook.chapters.capacity_on_demand.resizing import course_chart
from sizebook.chapters.sizing.capacity_charts import points_and_curves
from sizebook.lab import MODES
from sizebook.report import charts
from sizebook.report.chart import prepare_chart, render_svg

FRAME = pl.DataFrame(
    {
        "what": ["a", "a", "b"],
        "mode": ["x", "y", "x"],
        "value": [1.0, 20.0, 300.0],
        "low": [0.5, 10.0, 100.0],
        "high": [2.0, 40.0, 900.0],
        "words": ["≈ 1", "20", "300"],
        "step": [1, 1, 2],
    }
)


def spec_of(chart: Any) -> dict[str, Any]:
    """Give the specification of a chart that can be drawn."""
    spec, _ = prepare_chart(chart)
    assert render_svg(spec).startswith("<svg")
    return spec


@pytest.mark.parametrize("series", [None, "mode"])
@pytest.mark.parametrize("scale", ["linear", "log", "symlog"])
@pytest.mark.parametrize("ranges", [{}, {"low": "low", "high": "high"}])
@pytest.mark.parametrize("label", [None, "words"])
def test_dots_are_drawn_in_every_way(
    series: str | None, scale: Any, ranges: dict[str, str], label: str | None
) -> None:
    """Marks, with a range and a label if asked for, on each scale."""
    spec = spec_of(
        charts.dots(FRAME, value="value", category="what", x_title="ms", series=series,
                    scale=scale, label=label, **ranges)  # type: ignore[arg-type]
    )  # fmt: skip
    marks = [layer["mark"]["type"] for layer in spec.get("layer", [spec])]
    assert marks == ["rule"] * bool(ranges) + ["point"] + ["text"] * bool(label)


def test_a_logarithmic_scale_has_a_tick_a_decade() -> None:
    """From below the least value to above the greatest; given ticks win."""

    def ticks(**options: Any) -> Any:
        chart = charts.dots(FRAME, value="value", category="what", x_title="ms", **options)
        return spec_of(chart)["encoding"]["x"]["axis"].get("values")

    assert ticks(scale="log") == [1, 10, 100, 1000]
    assert ticks(scale="log", ticks=(5, 50)) == [5, 50]
    assert ticks() is None


def test_the_eight_marks_are_different_and_wide() -> None:
    """A treatment is told by its form, too: none is an alias of another, and none is a hair."""
    names = [*MODES]
    frame = pl.DataFrame({"value": [1.0] * 8, "what": ["x"] * 8, "mode": names})
    chart = charts.dots(frame, value="value", category="what", x_title="ms", series="mode")
    svg = render_svg(spec_of(chart))
    legend = re.findall(r'class="mark-symbol role-legend-symbol".*?d="([^"]+)"', svg)
    assert len(set(legend)) == len(names) == 8
    for outline in legend:
        across = [float(x) for x in re.findall(r"[ML](-?[\d.]+)", outline)]
        assert "A" in outline or "h" in outline or max(across) - min(across) > 8, outline


def test_dots_take_one_value_and_none() -> None:
    """A single row, and a frame without rows."""
    for rows in (1, 0):
        spec_of(charts.dots(FRAME.head(rows), value="value", category="what", x_title="ms",
                            series="mode", scale="log", label="words"))  # fmt: skip


def test_lines_take_numbers_and_levels() -> None:
    """``x`` is a number, or a level in the order of the frame."""
    by_number = spec_of(charts.lines(FRAME, x="step", y="value", x_title="step", y_title="ms"))
    assert by_number["encoding"]["x"]["type"] == "quantitative"
    by_level = spec_of(
        charts.lines(FRAME, x="what", y="value", x_title="what", y_title="ms", series="mode",
                     ordered=True)
    )  # fmt: skip
    assert by_level["encoding"]["x"]["type"] == "ordinal"
    assert by_level["encoding"]["strokeDash"]["field"] == "mode"


@pytest.mark.parametrize(("share", "resolved"), [("", "independent"), ("x", "shared")])
def test_panels_have_titles_a_width_and_one_legend(share: Any, resolved: str) -> None:
    """Panels keep the width given, share colours, and an axis where asked."""
    panel = charts.dots(FRAME, value="value", category="what", x_title="ms", series="mode")
    chart = charts.panels({"first": panel, "second": panel}, width_px=200, share=share)
    spec, fluid = prepare_chart(chart)
    assert not fluid
    assert [view["width"] for view in spec["concat"]] == [200, 200]
    assert [view["title"]["text"] for view in spec["concat"]] == ["first", "second"]
    assert (spec["resolve"]["scale"]["color"], spec["resolve"]["scale"]["x"]) == (
        "shared",
        resolved,
    )
    assert ">second</text>" in render_svg(spec)


def test_what_has_no_value_draws_no_endless_axis() -> None:
    """A browser complains of an axis whose numbers are all missing: one replicate has no range."""
    alone = FRAME.with_columns(low=pl.lit(None, pl.Float64), high=pl.lit(None, pl.Float64))
    dots = spec_of(
        charts.dots(alone, value="value", category="what", x_title="ms", low="low", high="high")
    )
    assert '"low:' not in str(dots) and "'low'" not in str(dots.get("layer", ""))
    nothing = alone.with_columns(
        value=pl.lit(None, pl.Float64), replicate=pl.lit(0), verdict=pl.lit("noisy")
    )
    strips = spec_of(charts.strips(nothing, value="value", category="what", y_title="s"))
    assert strips["encoding"]["x"]["scale"]["domain"] == [0, 1]
    some = nothing.with_columns(value=pl.lit(2.0))
    strips = spec_of(charts.strips(some, value="value", category="what", y_title="s"))
    assert "domain" not in strips["encoding"]["x"]["scale"]
    for rows, is_empty in ((nothing, True), (some, False)):
        stacked = spec_of(
            charts.stacked_bars(rows, value="value", category="what", part="verdict", y_title="s")
        )
        assert ("domain" in stacked["encoding"]["x"].get("scale", {})) == is_empty


def test_dots_beside_a_reference():
    """A dashed line stands at the value that means no difference, also where there is no mark."""
    frame = pl.DataFrame({"what": ["a"], "ratio": [0.5]})
    for rows in (frame, frame.clear()):
        chart = charts.dots(
            rows, value="ratio", category="what", x_title="ratio", reference=1.0
        ).to_dict()
        drawn = chart["datasets"][chart["layer"][0]["data"]["name"]]
        assert drawn == [{"ratio": 1.0}]
        scale = chart["layer"][-1]["encoding"]["x"]["scale"]
        assert ("domain" in scale) == rows.is_empty()
        assert chart["layer"][0]["mark"]["type"] == "rule"


STRANGE = (
    "heap.mib",
    "jvm:heap",
    "year:T",
    "it's",
    'the "new"',
    "at[0]",
    "c\\d",
    "sum(it)",
    "count()",
)
"""Names in which Altair or Vega-Lite reads a path, a type, a quotation or a function."""


def _places(chart: Any, kind: str) -> list[str]:
    svg = render_svg(prepare_chart(chart)[0])
    assert "undefined" not in svg
    found = r'aria-roledescription="{}"[^>]*?(?:transform="([^"]*)"|d="([^"]*)")'
    return ["".join(each) for each in re.findall(found.format(kind), svg)]


@functools.cache
def _drawn(x: str) -> tuple[list[str], ...]:
    """Return where the marks of nine charts stand that have a column of this name."""
    frame = pl.DataFrame(
        {
            x: ["a", "a", "b", "b"],
            "kind": ["l", "m", "l", "m"],
            "mean": [1.0, 2.0, 3.0, 4.0],
            "low": [0.9, 1.9, 2.9, 3.9],
            "high": [1.1, 2.1, 3.1, 4.1],
            "n": [5] * 4,
        }
    )
    titles = {"x_title": "x", "y_title": "ms"}
    number = frame.rename({x: "level", "mean": x})
    return (
        _places(charts.curves(frame, x=x, series="kind", **titles), "point"),
        _places(charts.curves(frame, x="kind", series=x, **titles), "point"),
        _places(charts.lines(frame, x=x, y="mean", series="kind", ordered=True, **titles),
                "point"),
        _places(charts.bars(frame[1:3], category=x, y_title="ms"), "bar"),
        _places(charts.dots(frame, value="mean", category="kind", series=x, x_title="ms"),
                "point"),
        _places(charts.stacked_bars(frame, category="kind", part=x, value="mean",
                                    y_title="ms"), "bar"),
        _places(charts.stacked_bars(number, category="kind", part="level", value=x,
                                    y_title="ms"), "bar"),
        _places(points_and_curves(number, number, x=x, y="low", series="kind", band=(x, "high"),
                                  **titles), "point"),
        _places(course_chart(
            pl.DataFrame({x: ["a", "b"], "replicate": [1, 1], "t_s": [0.0, 1.0],
                          "what": ["cpus"] * 2, "value": [1.0, 2.0]}),
            factor=x, series_title="", marks_s=()), "line mark"),
    )  # fmt: skip


@pytest.mark.parametrize("name", STRANGE)
def test_a_column_of_any_name_is_drawn_as_one_of_a_plain_name(name: str) -> None:
    """Its levels stand where they stand with another name, and not on top of each other."""
    places = _drawn(name)
    assert places == _drawn("plain")
    assert all(len(set(each)) == len(each) > 1 for each in places[:-1])


def test_columns_that_come_to_look_alike_stay_two() -> None:
    """And a chart of plain names is the one that it always was."""
    frame = pl.DataFrame({"a.b": ["x", "y"], "a\u2024b": ["v", "w"], "value": [1.0, 2.0]})
    spec = charts.stacked_bars(
        frame, category="a.b", part="a\u2024b", value="value", y_title="s"
    ).to_dict()
    [rows] = spec["datasets"].values()
    assert [sorted(row.values(), key=str) for row in rows] == [[1.0, "v", "x"], [2.0, "w", "y"]]
    assert spec["encoding"]["y"]["field"] != spec["encoding"]["color"]["field"]
    plain = pl.DataFrame({"a (ms)": ["x"], "p": ["v"], "value": [1.0]})
    assert (
        charts.stacked_bars(
            plain, category="a (ms)", part="p", value="value", y_title="s"
        ).to_dict()["encoding"]["y"]["field"]
        == "a (ms)"
    )
