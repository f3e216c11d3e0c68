"""Kinds of work side by side: ratios to the machine itself, and what a mode is good for."""

import polars as pl
import pytest
import synthetic_bundles as made

from sizebook.chapters.virtualization.lent import LENT, lent_frames, missing_chapters
from sizebook.chapters.virtualization.slowdowns import SLOWDOWNS, Work, advise, slowdowns
from sizebook.lab import Trials


def frame(column, values, **levels):
    """Return trials by mode, one a block; a mode's value None is a number that is missing."""
    rows = [
        {"mode": mode, "replicate": block, "verdict": "valid", column: value} | levels
        for mode, blocks in values.items()
        for block, value in enumerate(blocks)
    ]
    return pl.DataFrame(rows, schema_overrides={column: pl.Float64})


TIMES = frame("total_ms", {"bare": [10.0, 12.0], "container": [11.0, 13.2], "vm": [50.0, 60.0]})
RATES = frame("per_s", {"bare": [100.0, 80.0], "container": [50.0, 40.0]}, job="log")


def test_a_time_grows_and_a_rate_falls_with_the_slowdown():
    """Mode over bare for times, bare over mode for rates; blocks are paired."""
    works = [
        Work("computing", TIMES, "total_ms", {}),
        Work("log", RATES, "per_s", {"job": "log"}, "more"),
    ]
    found = slowdowns(works, "bare")
    assert found.schema == pl.Schema(SLOWDOWNS)
    assert dict(zip(found["work"] + " " + found["mode"], found["mean"], strict=True)) == {
        "computing container": pytest.approx(1.1),
        "computing vm": pytest.approx(5.0),
        "log container": pytest.approx(2.0),
    }


def test_work_without_numbers_has_no_rows():
    """No trials, none of these levels, none on the machine itself, and no number at all."""
    nowhere = frame("total_ms", {"vm": [5.0]})
    unknown = frame("total_ms", {"bare": [None], "vm": [None]})
    works = [
        Work("none", pl.DataFrame({"verdict": []}), "total_ms", {}),
        Work("other", RATES, "per_s", {"job": "copy"}, "more"),
        Work("nowhere", nowhere, "total_ms", {}),
        Work("unknown", unknown, "total_ms", {}),
    ]
    assert slowdowns(works, "bare").is_empty()
    assert advise(slowdowns(works, "bare"), near=1.25, far=3.0).is_empty()


def test_failed_trials_are_left_out():
    """They have no number that may be shown."""
    failed = TIMES.with_columns(
        verdict=pl.when(pl.col("mode") == "vm").then(pl.lit("failed")).otherwise("verdict")
    )
    assert slowdowns([Work("w", failed, "total_ms", {})], "bare")["mode"].to_list() == ["container"]


def test_advice_sorts_work_by_its_slowdown():
    """Below the first bound, between the two, and from the second on."""
    rows = [("a", 1.0), ("b", 1.25), ("c", 2.9), ("d", 3.0)]
    found = pl.DataFrame(
        [(work, "vm", mean, None, None, 1) for work, mean in rows], schema=SLOWDOWNS, orient="row"
    )
    assert advise(found, near=1.25, far=3.0).to_dicts() == [
        {"mode": "vm", "near": "a", "dear": "b, c", "far": "d", "worst": "d", "times": 3.0}
    ]
    best = advise(found.head(1), near=1.25, far=3.0).row(0, named=True)
    assert (best["near"], best["dear"], best["far"]) == ("a", None, None)


def test_chapters_that_lend_nothing(make_bundle):
    """A chapter is there with any of its designs; frames of none have their columns."""
    some = made.make_trials(make_bundle, "rules", {"x": {}})
    none = Trials(some.design, [])
    nothing = dict.fromkeys(LENT, none)
    assert missing_chapters(nothing) == ["disk", "database-work", "guests"]
    assert missing_chapters(nothing | {("guests", "rules"): some}) == ["disk", "database-work"]
    disk, work, start, serve = lent_frames(nothing)
    assert {"on_disk", "log", "network"} <= set(disk.columns)
    assert "database_ms" in work.columns and "p50_ms" in start.columns and serve.is_empty()
