"""Rules of thumb from sweeps: best level, range, answer; tables and charts of any data."""

import polars as pl
import pytest

from sizebook.report.chart import prepare_chart, render_svg
from sizebook.report.sweeps import (
    ADVISED,
    DISTANCES,
    RULES,
    Sweep,
    distances_frame,
    rules_frame,
    sweep_chart,
    sweep_of,
)


def frame(values, verdict="valid"):
    """Return trials by level, one a block; None is a number that is missing."""
    rows = [
        {"level": float(level), "replicate": block, "verdict": verdict, "ms": value}
        for level, blocks in values.items()
        for block, value in enumerate(blocks)
    ]
    return pl.DataFrame(
        rows,
        schema={"level": pl.Float64, "replicate": pl.Int64, "verdict": pl.String, "ms": pl.Float64},
    )


TIMES = {
    10: [9.0, 9.1, 9.2, 9.0],
    50: [3.02, 3.04, 3.03, 3.02],
    100: [3.0, 3.01, 3.02, 3.0],
}


def sweep(advised, values=None):
    """Return the sweep of a rule about threads."""
    known = sweep_of(frame(TIMES if values is None else values), "level", "ms")
    return Sweep("threads", "threads (% of users)", advised, known, "{:g} %".format)


@pytest.mark.parametrize(
    ("advised", "answer"),
    [(50, "as good as the best"), (10, "worse than the best"), (70, "not measured")],
)
def test_the_answer_is_read_from_the_advised_level(advised, answer):
    """Within the margin, beyond it, or not there."""
    assert sweep(advised).answer == answer


def test_noise_and_single_blocks_settle_nothing():
    """Wide intervals, or none: neither good nor bad was shown."""
    assert sweep(50, {50: [3.0, 5.0, 4.0], 100: [4.0, 3.1, 5.0]}).answer == "not settled"
    assert sweep(50, {50: [3.0], 100: [4.0]}).answer == "not settled"


def test_a_rule_has_a_row_with_best_and_range():
    """Levels in words; the range that is sure lies in the one that is estimated."""
    row = rules_frame([sweep(50)]).row(0, named=True)
    assert {
        name: row[name] for name in ("rule", "advised", "best", "span", "sure", "possible")
    } == {
        "rule": "threads",
        "advised": "50 %",
        "best": "100 %",
        "span": "50 % to 100 %",
        "sure": "50 % to 100 %",
        "possible": "50 % to 100 %",
    }
    assert row["ratio"] == pytest.approx(
        (3.02 * 3.04 * 3.03 * 3.02 / (3 * 3.01 * 3.02 * 3)) ** 0.25
    )
    assert 1 <= row["low"] <= row["ratio"] < row["high"] < 1.05 and row["n"] == 4


def test_a_treatment_of_two_sweeps_counts_once_a_block():
    """Rows of one level and block are one value: their mean."""
    twice = pl.concat([frame(TIMES), frame({100: [3.2, 3.21, 3.22, 3.2]})])
    assert sweep_of(twice, "level", "ms").best == 50
    assert sweep_of(twice, "level", "ms").n == 4


def test_failed_and_missing_trials_are_not_measured():
    """A level that failed in every block is no level; without any there is no best."""
    mixed = pl.concat([frame({1: [2.0, 2.0, 2.0, 2.0]}, "failed"), frame(TIMES)])
    assert [one.level for one in sweep_of(mixed, "level", "ms").distances] == [10, 50, 100]
    gap = sweep_of(frame({10: [None, None], 50: [3.0, 3.1], 100: [3.0, None]}), "level", "ms")
    assert [one.level for one in gap.distances] == [50, 100] and gap.n == 1
    assert sweep_of(frame({}), "level", "ms").best is None


@pytest.mark.parametrize("values", [TIMES, {50: [3.0], 100: [4.0]}, {50: [3.0]}, {}])
def test_every_sweep_is_drawn_and_tabled(values):
    """With intervals, without, with one level and with none."""
    one = sweep(50, values)
    shown = distances_frame(one)
    assert shown.schema == pl.Schema(DISTANCES) and shown.height == len(values)
    assert (shown["kind"] == ADVISED).sum() == (50 in values)
    table = rules_frame([one])
    assert table.schema == pl.Schema(RULES) and table.height == 1
    spec, _ = prepare_chart(sweep_chart(one))
    assert render_svg(spec).startswith("<svg")
