"""Hosts whose CPUs are changed in a peak, and what is made of their trials."""

import polars as pl
import pytest
import synthetic_bundles as made

from sizebook.chapters.capacity_on_demand import courses, results
from sizebook.lab import Placement
from sizebook.lab.profiles import get_profile

HERE = Placement(stack=(1,), generator=(0,), total_heap_mib=4096)


def make(profile="quick"):
    return courses.Courses(HERE, get_profile(profile, 0), 1, 0.3, 1.35, 0.5, 10)


def grown(way, course, jvm="follows"):
    return make().grown({"way": way, "course": course, "jvm": jvm}, 100.0)


def test_cpus_are_added_and_taken_away():
    """At their times; a host that always had them, or never gets them, is left alone."""
    added = grown(courses.SET, "added")
    assert [(one.at_s, set(one.limits.cpus)) for one in added.disturbances] == [
        (2.0, {0, 1}), (7.5, {1}),
    ]  # fmt: skip
    assert grown(courses.SET, "always").disturbances == ()
    assert set(grown(courses.SET, "always").deployment.hosts[0].cpus) == {0, 1}


def test_half_a_cpu_begins_large():
    """So that the JVM sees one CPU; the limit comes with the load."""
    never = grown(courses.HALF, "never")
    assert never.deployment.hosts[0].cpu_limit == 1.0
    assert [one.limits.cpu_limit for one in never.disturbances] == [0.5]


def test_a_peak_is_more_than_one_cpu_serves():
    """Calm, peak and calm again; half of it where there is half a CPU."""
    steps = grown(courses.TIME, "added").load.arrivals.steps
    assert [round(step.rate_per_s) for step in steps] == [30, 135, 30]
    assert [step.length_s for step in steps] == [1.0, 5.0, 4.5]
    half = grown(courses.HALF, "added").load.arrivals.steps
    assert round(half[1].rate_per_s, 1) == 67.5


@pytest.mark.parametrize("jvm, flags", list(courses.JVMS.items()))
def test_a_jvm_is_told_its_cpus(jvm, flags):
    """Or follows what it sees."""
    assert grown(courses.SET, "added", jvm).deployment.find("app").flags == flags


def test_all_is_compared_in_full_only():
    """Quick adds CPUs in every way, and compares with never and always in one."""
    quick, full = (make(name).designs()["courses"] for name in ("quick", "full"))
    assert len(list(full.treatments())) == 9 and len(list(quick.treatments())) == 5
    assert len(list(make("smoke").designs()["courses"].treatments())) == 1
    assert list(make().designs()) == ["capacity", "courses", "jvms", "sizes"]


def test_a_host_of_one_cpu_or_two():
    """Its heap is given at the start, its CPUs while it runs."""
    setup = make().sized({"cpus": 2, "heap_mib": 512})
    assert len(setup.disturbances[0].limits.cpus) == 2
    assert setup.deployment.find("app").heap_mib == 512
    assert make().saturated().load.phases.measured_s == 10.0


def test_the_share_of_its_cpus_that_a_host_keeps_busy():
    """Of one CPU before and two after, or of half a CPU and a whole one."""
    added = pl.DataFrame(
        [(courses.SET, 0, "valid", "a", 1.0, 1.5), (courses.HALF, 0, "valid", "b", 0.5, 0.75)],
        schema=["way", "replicate", "verdict", "bundle", "small_cpus", "late_cpus"],
        orient="row",
    )
    found = results.busy_frame(added).select("way", "when", "cpu_percent").rows()
    assert found == [
        (courses.SET, "before", 100.0), (courses.HALF, "before", 100.0),
        (courses.SET, "after", 75.0), (courses.HALF, "after", 75.0),
    ]  # fmt: skip


def test_moments_of_a_trial():
    """The last third of the peak ends with it; CPUs are taken away when it is over."""
    at = courses.LENGTHS["quick"]
    assert (at.added_s, at.over_s, at.taken_s, at.length_s) == (2.0, 6.0, 7.5, 10.5)
    assert at.late_s == pytest.approx(6 - 5 / 3)


def test_a_frame_of_courses(make_bundle):
    """All that both tables have."""
    trials = made.make_trials(make_bundle, "courses", {"added": {}})
    frame = results.courses_frame(trials, courses.LENGTHS["smoke"], 100.0)
    names = {one.name for one in (*results.COURSES, *results.JVMS)}
    assert names - {"way", "course", "jvm"} <= set(frame.columns)
