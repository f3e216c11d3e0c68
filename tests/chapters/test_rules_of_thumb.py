"""Limits around what a rule advises, and what is made of their sweeps."""

import polars as pl
import pytest
import synthetic_bundles as made

from sizebook.chapters.rules_of_thumb import limits, results
from sizebook.lab import Placement
from sizebook.lab.profiles import get_profile

HERE = Placement(stack=(1,), generator=(0,), total_heap_mib=4096)


@pytest.fixture
def rules():
    return limits.Rules(HERE, get_profile("quick", 0), 1, 200, 0.3, 512, 100, 0.085, 1024, 900)


@pytest.mark.parametrize(
    "rule, level, expected",
    [
        ("threads", 50, {"threads": 100}),
        ("threads", 0.1, {"threads": 1}),
        ("kept", 90, {"keep_alive_requests": 10}),
        ("kept", 0, {"keep_alive_requests": 1}),
        ("kept", 100, {"keep_alive_requests": -1}),
        ("sessions", 90, {"sessions_in_memory": 180}),
        ("connections", 40, {"pool": 80}),
        ("workers", 7.5, {"business_workers": 27}),
    ],
)
def test_a_level_is_a_limit_of_the_node(rule, level, expected):
    """In the rule's own unit: percent of 200 users, of the requests, or users a worker."""
    assert limits.limits_at(rule, level, 200) == expected


def test_what_is_ample_is_measured_once():
    """A level that has one of everything for each user is no case of its own."""
    cases = limits.make_cases({"threads": (50, 100), "workers": (1, 100)}, 200)
    assert list(cases) == ["threads/50", "workers/100", "ample"]
    assert cases["ample"] == limits.ample_limits(200)


def test_full_has_more_levels_than_quick():
    """And smoke two of each rule."""
    smoke, quick, full = (limits.swept_levels(name) for name in ("smoke", "quick", "full"))
    assert {len(levels) for levels in smoke.values()} == {2}
    assert all(set(quick[rule]) < set(full[rule]) for rule in quick)


def test_room_is_for_what_is_at_work():
    """Threads, workers and connections must all suffice; no limit of workers is one a user."""
    ample = limits.ample_limits(200)
    assert limits.has_room(ample, 200, at_work=20, held=10)
    assert not limits.has_room(ample | {"threads": 20}, 200, at_work=20, held=10)
    assert not limits.has_room(ample | {"business_workers": 5}, 200, at_work=20, held=10)
    assert not limits.has_room(ample | {"pool": 10}, 200, at_work=20, held=10)


def test_a_load_begins_with_a_rush(rules):
    """The limits are told before; a start is warmed by a crowd that hardly pauses."""
    setup = rules.limited({"threads": 5})
    assert setup.load.settings == {"limits": "threads=5"}
    assert (setup.load.arrivals.rush_s, setup.load.phases.warmup_s) == (12.0, 14.0)
    assert setup.conditioning.arrivals.think_s == pytest.approx(0.03)


def test_a_heap_is_for_its_users(rules):
    """Sessions are large; a heap that is too large lies in a file, in a host with little memory."""
    heap, beyond = rules.heap(2.5), rules.heap_in_host(32.0)
    assert heap.deployment.find("app").heap_mib == 250
    assert heap.load.phases.measured_s == rules.heap_s == 60.0
    assert beyond.deployment.hosts[0].memory_mib == 900
    assert len(beyond.deployment.find("app").flags) > len(heap.deployment.find("app").flags)


def test_ample_is_the_level_of_one_for_each_user():
    """100 %, or one user a worker."""
    every = pl.DataFrame(
        {"case": ["threads/50", "ample", "workers/7.5"], "mean_ms": [2.0, 1.0, 3.0]}
    )
    assert results.rows_of(every, "threads")["level"].to_list() == [50.0, 100.0]
    assert results.rows_of(every, "workers")["level"].to_list() == [7.5, 1.0]


def test_times_over_those_of_ample_limits():
    """Of what is about work, not of sessions or connections kept."""
    cases = ["threads/50", "kept/0", "ample"]
    every = pl.DataFrame({"case": cases, "mean_ms": [3.0, 9.0, 2.0], "verdict": "valid"})
    assert results.times_of_ample(every, cases) == {"threads/50": 1.5}


def test_frames_of_trials(make_bundle):
    """All that the tables have; no trial of a host with little memory is an empty frame."""
    trials = made.make_trials(make_bundle, "limits", {"ample": {}})
    frame = results.limits_frame(trials, 1).rename({"level": "case"})
    assert {"cpu_share", "at_work", "held", "peak", "restored"} <= set(frame.columns)
    empty = results.beyond_frame(None)
    assert empty.is_empty() and "faults_per_s" in empty.columns
    assert "faults_per_s" in results.beyond_frame(trials).columns
