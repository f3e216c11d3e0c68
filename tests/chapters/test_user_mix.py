"""Users who click at fixed times, and what is told of them."""

import polars as pl
import pytest
import synthetic_bundles as made

from sizebook.chapters.user_mix import clicks, results
from sizebook.lab import Placement
from sizebook.lab.profiles import get_profile

HERE = Placement(stack=(1,), generator=(0,), total_heap_mib=4096)
QUIET = {"nodes": 1, "users": 100, "state": "quiet"}


def clerks(profile="quick"):
    return clicks.Clicks(HERE, get_profile(profile, 0), 1, 0)


def test_half_the_users_click_three_times_as_often():
    """And a document comes every five seconds."""
    mix = clerks().mix(100)
    assert [(g.users, g.period_s) for g in mix.groups] == [(50, 10), (50, 30), (1, 5)]
    assert clerks().clicks_per_s(100) == pytest.approx(50 / 10 + 50 / 30)


def test_a_smoke_run_has_fewer_users_who_click_more_often():
    """The rate is the same."""
    assert clerks("smoke").mix(100).groups[0].period_s == 0.5
    assert clerks("smoke").clicks_per_s(400) == pytest.approx(clerks().clicks_per_s(400))


def test_the_spike_is_beside_the_fewest_users_of_the_first_layout():
    """Other layouts carry the most users, in a full profile every mix."""
    design = clerks().design([1, 4], [100, 500])
    planned = {tuple(t.values()) for t in design.treatments()}
    assert planned == {
        (1, 100, "quiet"), (1, 100, "spike"), (1, 500, "quiet"), (4, 500, "quiet"),
    }  # fmt: skip
    full = clerks("full").design([1, 4], [100, 500]).treatments()
    assert {"nodes": 4, "users": 100, "state": "quiet"} in [dict(t) for t in full]


def test_a_spike_lasts_as_long_as_what_is_measured():
    """It is the only difference of its trials."""
    quiet, spike = (clerks().setup(QUIET | {"state": state}) for state in clicks.STATES)
    assert quiet.load == spike.load and quiet.disturbances == ()
    assert spike.disturbances[0].for_s == 30.0


@pytest.fixture
def measured(make_bundle):
    trials = made.make_trials(make_bundle, "mix", {"quiet": {}})
    found = results.mix_frame(trials).drop("level")
    return found.with_columns(pl.lit(value).alias(name) for name, value in QUIET.items())


def test_frames_of_trials(measured):
    """All that tables, sentences and claims have."""
    assert {one.name for one in results.WAITS} == set(results.waits_frame(measured).columns)
    events = {"machine_level", "cpu_low", "paging_low", "reliable", "cpu_percent"}
    assert events <= set(results.with_facts(measured).columns)


def test_the_largest_trend_keeps_its_sign():
    """None where no trial tells one."""
    rows = {"users": [5, 50, 5], "nodes": 1, "state": "quiet", "x": [0.1, -0.5, None]}
    found = results.largest(pl.DataFrame(rows), "x")
    assert found == -0.5
    assert results.treatment_of(found) == "nodes 1, state quiet, users 50"
    level = results.largest(pl.DataFrame({**rows, "x": [0.0, 0.0, None]}), "x")
    assert results.treatment_of(level) == "all"
    nothing = results.largest(pl.DataFrame({"x": [None]}, schema={"x": pl.Float64}), "x")
    assert nothing is None
    assert results.treatment_of(nothing) == "none"


def test_medians_and_costs_of_a_treatment(measured):
    """Of the trials that have its levels; a role that nobody counted has no part."""
    known = pl.concat([measured] * 3).with_columns(
        app_cpu_ms=pl.Series([1.0, 2.0, 9.0]), database_cpu_ms=pl.lit(None, pl.Float64)
    )
    assert results.median_of(known, "app_cpu_ms", QUIET) == 2.0
    assert results.median_of(known, "app_cpu_ms", QUIET | {"nodes": 4}) is None
    assert results.cost_parts(known).select("role", "cpu_ms").rows() == [("app", 4.0)]


def test_the_report_beside_ours():
    """Its 100 users on two nodes had a guest, and are beside the spike."""
    printed = pl.DataFrame({"users": [100, 100], "nodes": [1, 2], "cpu_percent_mean": [5.0, 50.0]})
    own = pl.DataFrame([QUIET | {"cpu_percent_mean": 7.0}])
    found = results.cpu_beside(printed, own)
    state = dict(found.filter(pl.col("by") == "reported").select("nodes", "state").iter_rows())
    assert state == {1: "quiet", 2: "spike"} and "treatment" in found.columns
