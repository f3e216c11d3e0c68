"""Columns of the tables about the instrument fit the frames that they show."""

import pytest
from bench_results import (
    make_ceiling,
    make_planted,
    make_results,
    make_summary,
    make_truth,
    make_turns,
)

from bench import columns, frames

SHOWN = {
    "ceiling": (columns.CEILING, lambda: frames.ceiling_frame(make_ceiling())),
    "truth": (columns.TRUTH, lambda: frames.truth_frame(make_truth())),
    "freeze": (columns.FREEZE, lambda: frames.truth_frame(make_truth())),
    "parts": (columns.PARTS, lambda: frames.parts_frame(make_truth())),
    "summary": (columns.SUMMARY, lambda: frames.summary_frame(make_summary())),
    "turns": (columns.TURNS, lambda: frames.turns_frame(make_turns())),
    "planted": (columns.PLANTED, lambda: frames.planted_frame(make_planted())),
    "versions": (columns.VERSIONS, lambda: columns.versions_frame(make_results())),
}


@pytest.mark.parametrize("name", SHOWN)
def test_every_column_is_in_its_frame(name):
    """A table leaves out what its frame lacks, so a wrong name would go unseen."""
    shown, frame = SHOWN[name]
    assert {one.name for one in shown} <= set(frame().columns)


def test_only_readers_that_were_measured_are_shown():
    """In words."""
    found = columns.probes_frame({"psutil_percent": 0.5, "of_no_reader": 1.0})
    assert found.rows() == [("A plain psutil loop", 0.5)]


def test_what_a_tool_said():
    """None where it said nothing of the percentile."""
    law = frames.truth_frame(make_truth())
    first = law.head(1)
    assert columns.said(first, "Sizebook", 50.0, "recorded") == first["recorded"][0]
    assert columns.said(first, "Sizebook", 12.5, "recorded") is None
