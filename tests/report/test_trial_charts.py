"""A trial over time: what its charts draw follows from the bundle, gaps and limits included."""

from __future__ import annotations

import dataclasses
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import vl_convert
from sample_book import HOSTILE
from sample_trials import open_requests, readings, usual_readings, write_trial
from synthetic_bundles import BEGIN, END, MEASURED, S, closed_rows, rows_from

from sizebook.probes.registry import COUNTERS, find_counter
from sizebook.report import trial_charts
from sizebook.report.trial_counters import MOST_POINTS, MOST_SERIES, Drawn, draw_counters
from sizebook.report.trial_frame import Frame, Span, find_span, make_frame
from sizebook.report.trial_panels import PANELS
from sizebook.report.trial_windows import (
    MOST_WINDOWS,
    Requests,
    choose_width_ns,
    distribute,
    follow_course,
    read_requests,
)
from sizebook.store import Bundle
from sizebook.store.readings import Readings

SPAN = Span(BEGIN, END)
GENERATOR = {"cpu_share", "lag_p99_ms", "lag_max_ms", "requests", "failed", "users"}


def drawn_panel(bundle: Bundle, counters: pl.DataFrame, title: str) -> Drawn:
    """Return the one panel of that title."""
    groups = draw_counters(bundle, Readings.of(counters), SPAN).groups
    found = [each for panels in groups.values() for each in panels if each.panel.title == title]
    assert len(found) == 1
    return found[0]


@pytest.fixture
def bundle(tmp_path: Path) -> Bundle:
    """Give a whole bundle of twelve seconds."""
    return write_trial(tmp_path, "synthetic-0001")


def test_windows_count_what_ended_in_them(bundle: Bundle) -> None:
    """The windows' rates times their widths add up to the requests, and so do the failures."""
    span = find_span(bundle)
    assert span == Span(BEGIN, END + S // 10)
    course = follow_course(read_requests(bundle), span)
    assert course is not None
    rows = bundle.requests
    assert (course.counted, course.width_s) == ("ended", 0.5)
    assert course.windows.height == 24  # the drain's 100 ms are less than half a window
    ended = (rows["start_ns"] + rows["service_ns"]).to_numpy() < END
    assert (course.windows["per_s"].sum() * 0.5) == pytest.approx(ended.sum())
    failed = (rows["error"].cast(pl.String) != "").to_numpy()
    assert (course.windows["failed_per_s"].sum() * 0.5) == pytest.approx((ended & failed).sum())


def test_a_window_shows_only_percentiles_that_it_supports() -> None:
    """50 requests a window support a median, no more; 500 support 95 %."""
    span = Span(BEGIN, END)
    few = follow_course(Requests(rows=open_requests(100)), span)
    assert few is not None
    assert few.upper is None
    assert few.windows["upper_ms"].null_count() == few.windows.height
    assert few.windows["median_ms"].is_between(11.9, 12.1).all()  # 5 + 2 * 3 and 1 ms of lateness
    many = follow_course(Requests(rows=open_requests(1000)), span)
    assert many is not None
    assert (many.upper, many.width_s) == (95.0, 0.5)


def test_few_requests_are_shown_one_by_one() -> None:
    """Where windows hold too few for a median, each request is a point of its own."""
    rows = closed_rows(users=1, service_ns=500_000_000)
    course = follow_course(Requests(rows=rows), SPAN)
    assert course is not None
    assert course.single.height == rows.height
    assert course.single["latency_ms"].unique().to_list() == [500.0]
    frame = make_frame(SPAN, (), None)
    chart = trial_charts.course_charts(course, frame)[1]
    assert chart.title == "Latency of each request"


def test_no_request_at_all_is_no_course() -> None:
    """A trial without requests, or without phases, has nothing to draw and says so."""
    empty = Requests(rows=closed_rows().clear())
    assert follow_course(empty, SPAN) is None
    assert distribute(empty, BEGIN) is None


def test_a_bundle_without_requests_is_read_from_its_histograms(tmp_path: Path) -> None:
    """The log knows seconds of due times only; counts are the same, latencies within 0.2 %."""
    whole, slim = write_trial(tmp_path, "a"), write_trial(tmp_path, "b", slim=True)
    requests = read_requests(slim)
    assert (requests.rows, requests.trouble) == (None, "")
    course = follow_course(requests, SPAN)
    assert course is not None
    assert (course.counted, course.width_s, course.windows.height) == ("due", 1.0, 12)
    assert course.windows["per_s"].to_list() == [200.0] * 12
    assert course.windows["failed_per_s"].to_list() == [2.0] * 12
    exact, read = distribute(read_requests(whole), MEASURED), distribute(requests, MEASURED)
    assert exact is not None
    assert read is not None
    assert exact.n == read.n == 1980
    assert exact.highest == read.highest == pytest.approx(100 * (1 - 10 / 1980))
    for column in ("latency_ms", "service_ms"):
        assert read.points[column].to_numpy() == pytest.approx(
            exact.points[column].to_numpy(), rel=0.2 / 100
        )


def test_an_unreadable_table_is_said_not_drawn(bundle: Bundle) -> None:
    """One changed byte, and the requests are not shown."""
    file = bundle.path / "requests.parquet"
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    requests = read_requests(Bundle(bundle.path, bundle.record))
    assert requests.rows is None
    assert "requests.parquet whose checksum is not the recorded one" in requests.trouble


def test_the_distribution_counts_from_the_crop(bundle: Bundle) -> None:
    """Requests due before the crop are left out; service time stands beside latency."""
    found = distribute(read_requests(bundle), MEASURED + 5 * S)
    assert found is not None
    assert found.n == 990
    difference = found.points["latency_ms"] - found.points["service_ms"]
    assert difference.is_between(0.999, 1.001).all()
    closed = distribute(Requests(rows=closed_rows()), MEASURED)
    assert closed is not None
    assert closed.points["service_ms"].null_count() == closed.points.height
    assert distribute(Requests(rows=closed_rows().head(19)), BEGIN) is None


@pytest.mark.parametrize(
    ("length_s", "requests"), [(0.05, 3), (0.5, 800), (12, 2400), (3600, 10_000_000), (90_000, 1)]
)
def test_windows_are_never_too_many(length_s: float, requests: int) -> None:
    """Whatever the length, there are at most MOST_WINDOWS, of a round width."""
    width = choose_width_ns(round(length_s * S), requests)
    assert length_s * S / width <= MOST_WINDOWS
    assert float(f"{width:.0e}") == width
    assert str(width)[0] in "125"


def test_counters_become_rates_and_are_added_up(bundle: Bundle) -> None:
    """CPU of a process is user plus system time over the time between readings."""
    cpu = drawn_panel(bundle, usual_readings(), "CPU by process").series
    assert list(cpu) == ["app", "database"]
    assert [value for _, value in cpu["app"]] == pytest.approx([0.75] * 13)
    assert [t for t, _ in cpu["app"]] == [float(t) for t in range(13)]


def test_a_missing_reading_is_a_gap(bundle: Bundle) -> None:
    """Two missed readings break a gauge's line and leave a counter's rate out; no zero is drawn."""
    busy = drawn_panel(bundle, usual_readings(), "Worker threads").series["app busy"]
    assert (5.5, None) in busy
    assert 0.0 not in [value for _, value in busy]
    points = [(float(t), 2.0 * t) for t in range(13) if t not in (5, 6)]
    counted = readings({("server/app-1", "requests_total"): points})
    rates = drawn_panel(bundle, counted, "Requests answered by nodes").series["app"]
    assert [t for t, value in rates if value is None] == [4.0]
    assert {value for _, value in rates} == {2.0, None}


def test_a_counter_that_fell_has_no_rate(bundle: Bundle) -> None:
    """A process that began anew does not make a negative rate."""
    values = [10.0, 11.0, 12.0, 0.0, 1.0]
    counted = readings({("host", "context_switches"): list(zip(range(5), values, strict=True))})
    rates = drawn_panel(bundle, counted, "Context switches").series[""]
    assert [value for _, value in rates] == [1.0, 1.0, None, 1.0, 1.0]


def test_readings_close_together_make_one_rate(bundle: Bundle) -> None:
    """The snapshot after the last reading does not make a rate out of a few milliseconds."""
    points = [(0.0, 0.0), (1.0, 1.0), (2.0, 2.0), (2.25, 2.5)]
    counted = readings({("host", "context_switches"): points})
    rates = drawn_panel(bundle, counted, "Context switches").series[""]
    assert [t for t, _ in rates] == [0.0, 1.0, 2.25]
    assert rates[-1][1] == pytest.approx(1.5 / 1.25)


def test_what_stayed_at_zero_is_one_line(bundle: Bundle) -> None:
    """Steal of zero is told in words instead of an empty chart; unread counters are not told."""
    found = draw_counters(bundle, Readings.of(usual_readings()), SPAN)
    assert list(found.zero) == ["steal"]
    assert list(found.groups) == ["Processors", "Threads and connections", "Disk"]
    nothing = draw_counters(bundle, Readings.of(usual_readings().clear()), SPAN)
    assert (dict(nothing.groups), list(nothing.zero)) == ({}, [])


def test_long_and_many_series_are_thinned(bundle: Bundle) -> None:
    """64 cores at 10 Hz: the busiest eight, few points each, and the mean stays what it was."""
    times = [t / 10 for t in range(121 * 10)]
    cores = {
        ("host", f"core_user_s/{core}"): [(t, t * core / 64) for t in times] for core in range(64)
    }
    drawn = drawn_panel(bundle, readings(cores), "CPU by core")
    assert list(drawn.series) == [f"core {core}" for core in range(56, 64)]
    assert (len(drawn.series), drawn.left_out) == (MOST_SERIES, 55)  # core 0 did nothing
    for core, points in zip(range(56, 64), drawn.series.values(), strict=True):
        assert len(points) <= MOST_POINTS
        assert {round(value or 0, 6) for _, value in points} == {round(100 * core / 64, 6)}


def test_every_panel_draws_counters_that_exist() -> None:
    """Sources, metrics and kinds are those of the registry; rates are made of counters alone."""
    titles = [panel.title for panels in PANELS.values() for panel in panels]
    assert len(set(titles)) == len(titles)
    for panels in PANELS.values():
        for panel in panels:
            assert len({term.value for term in panel.terms}) == 1
            for term in panel.terms:
                for metric in term.metrics:
                    if term.source == "generator":
                        assert metric in GENERATOR
                        continue
                    info = find_counter(metric if not COUNTERS[metric].label else f"{metric}/x")
                    assert (info.source, info.kind == "gauge") == (term.source, term.value)
                    assert bool(info.label) == ("label" in term.by) or term.by in ("", "node")


def charts_of(bundle: Bundle, crop_ns: int | None = None) -> list[trial_charts.TrialChart]:
    """Return every chart of a bundle's page."""
    frame = make_frame(SPAN, bundle.record.execution.phases, crop_ns, [-0.01, 12.1, 1e6])
    requests = read_requests(bundle)
    course, found = follow_course(requests, SPAN), distribute(requests, MEASURED)
    assert course is not None
    assert found is not None
    counters = trial_charts.counter_charts(
        draw_counters(bundle, Readings.of(usual_readings()), SPAN), frame
    )
    groups = [chart for charts in counters.values() for chart in charts]
    charts = trial_charts.course_charts(course, frame)
    return [*charts, trial_charts.distribution_chart(found), *groups]


def parts(spec: Any, key: str) -> list[Any]:
    """Return every value below a key, wherever in a specification."""
    if isinstance(spec, dict):
        return [v for k, v in spec.items() if k == key] + [
            found for value in spec.values() for found in parts(value, key)
        ]
    return [found for each in spec for found in parts(each, key)] if isinstance(spec, list) else []


def test_every_chart_draws(bundle: Bundle) -> None:
    """Vega-Lite takes each specification; phases are shaded and the crop is a line and a shade."""
    charts = charts_of(bundle, MEASURED + S)
    assert len(charts) == 8
    for chart in charts:
        config = trial_charts.page_config()
        spec = chart.spec | {"width": 600, "autosize": "pad", "config": config}
        svg = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
        assert "<svg" in svg
        assert chart.alt
    first = charts[0].spec
    shaded = [row["phase"] for row in first["layer"][0]["data"]["values"]]
    assert shaded == ["warm-up", "measured", "drain", "left out"]
    assert first["layer"][-1]["data"]["values"] == [{"t": 3.0}]
    assert first["layer"][-1]["mark"]["type"] == "rule"


def test_windows_without_a_percentile_draw_no_endless_axis(bundle: Bundle) -> None:
    """Too few requests in every window: the chart has its phases and no line, no number to miss."""
    frame = make_frame(SPAN, bundle.record.execution.phases, None, [0.0, 12.0])
    course = follow_course(read_requests(bundle), SPAN)
    assert course is not None
    none = pl.lit(None, pl.Float64)
    windows = course.windows.with_columns(median_ms=none, upper_ms=none)
    empty = dataclasses.replace(course, windows=windows, single=course.single.clear())
    latency = trial_charts.course_charts(empty, frame)[1]
    assert "v" not in parts(latency.spec, "field")
    assert "v" in parts(trial_charts.course_charts(course, frame)[1].spec, "field")


def test_without_a_crop_nothing_is_left_out(bundle: Bundle) -> None:
    """A crop that is not known, or lies outside, draws no line; one at the begin no shade."""
    for crop_ns, lines in ((None, 0), (MEASURED, 1), (BEGIN - S, 0)):
        spec = charts_of(bundle, crop_ns)[0].spec
        assert "left out" not in json.dumps(spec)
        assert [layer["mark"]["type"] for layer in spec["layer"]].count("rule") == lines


def test_the_frame_is_widened_by_readings_nearby_only() -> None:
    """A reading taken long before or after the trial does not squeeze it."""
    assert make_frame(SPAN, (), None, [-0.5, 12.5, 4000.0]) == Frame(-0.5, 12.5, [], None)


def test_charts_hold_no_expression_made_of_data(bundle: Bundle) -> None:
    """Names from data are data in the specification; what Vega evaluates is written here."""
    for chart in charts_of(bundle):
        for key in ("calculate", "filter", "labelExpr", "expr", "signal", "test"):
            for expression in parts(chart.spec, key):
                assert "stolen" not in str(expression)
    assert HOSTILE in [chart.note for chart in charts_of(bundle)]


def test_values_are_rounded_and_gaps_stay_empty(bundle: Bundle) -> None:
    """Inline data is CSV with four digits; a gap is an empty field, which Vega reads as null."""
    drawn = drawn_panel(bundle, usual_readings(), "Worker threads")
    frame = make_frame(SPAN, (), None)
    counters = draw_counters(bundle, Readings.of(usual_readings()), SPAN)
    charts = trial_charts.counter_charts(counters, frame)["Threads and connections"]
    text = charts[0].spec["layer"][1]["data"]["values"]
    frame_read = pl.read_csv(io.StringIO(text))
    assert frame_read.columns == ["c", "t", "v"]
    busy = list(drawn.series).index("app busy")
    gap = frame_read.filter((pl.col("c") == busy) & pl.col("v").is_null())
    assert gap["t"].to_list() == [5.5]
    assert max(len(line) for line in text.splitlines()) < 24


def test_latencies_of_many_sizes_get_a_logarithmic_axis() -> None:
    """A tail of a hundred times the median is not drawn on a linear axis."""
    intended = np.arange(BEGIN, END, S // 500, dtype=np.int64)
    latency = np.where(np.arange(intended.size) % 10 == 0, 900_000_000, 1_000_000)
    rows = rows_from(intended, intended, latency, np.arange(intended.size))
    course = follow_course(Requests(rows=rows), SPAN)
    assert course is not None
    chart = trial_charts.course_charts(course, make_frame(SPAN, (), None))[1]
    scales = [each for each in parts(chart.spec, "scale") if each.get("type") == "log"]
    assert scales
    assert all(0 < low < high for low, high in (scale["domain"] for scale in scales))
