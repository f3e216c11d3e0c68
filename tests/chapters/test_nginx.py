"""What an answer of nginx takes, and its configuration."""

import polars as pl
import synthetic_bundles as made

from sizebook.chapters import nginx
from sizebook.report.quantities import frame_of


def test_a_configuration_is_filled_in():
    """Names with a dollar are the treatment's, those in braces the start's."""
    text = "worker_processes $workers; listen {port}; gzip $gzip;"
    found = nginx.filled(text, workers=2, gzip="off")
    assert found == "worker_processes 2; listen {port}; gzip off;"


def test_answers_are_sorted_by_their_levels(make_bundle):
    """Every column of the table is there, also where nothing was counted."""
    trials = made.make_trials(make_bundle, "compression", {"on": {}, "off": {}})
    found = nginx.answers_by(frame_of(trials, *nginx.ANSWER).rename({"level": "gzip"}), "gzip")
    assert found["gzip"].to_list() == ["off", "on"]
    assert {one.name for one in nginx.COMPRESSION} == set(found.columns)


def test_a_failed_trial_is_no_answer():
    """It has no part in the means."""
    columns = {one.name: [1.0, 3.0] for one in nginx.ANSWER}
    frame = pl.DataFrame(columns | {"gzip": ["on", "on"], "verdict": ["valid", "failed"]})
    assert nginx.answers_by(frame, "gzip")["cpu_ms"].to_list() == [1.0]
