"""What hosts took of a machine, from synthetic readings."""

from types import SimpleNamespace

import pytest
from read_counters import read_counters

from sizebook.model.bundle import PhaseMark
from sizebook.report import guests

SECOND = 10**9


def bundle_of(rates, hosts=(), requests=10, **facts):
    """Return two measured seconds in which ``(host, source, metric)`` rise by so much a second."""
    rows = [
        (time_s * SECOND, host, source, metric, 5.0 + time_s * rate)
        for (host, source, metric), rate in rates.items()
        for time_s in (0, 1, 2, 3, 4)
    ]
    mark = PhaseMark(name="measured", begin_ns=SECOND, end_ns=3 * SECOND)
    runs = [SimpleNamespace(mode=mode, boot_s=pieces) for mode, pieces in hosts]
    execution = SimpleNamespace(
        phase=lambda name: mark if name == "measured" else None, hosts=runs, facts=facts, turns=()
    )
    return SimpleNamespace(
        **read_counters(rows),
        columns=SimpleNamespace(height=requests),
        record=SimpleNamespace(execution=execution, trial=None),
    )


def test_the_first_answer_waits_for_boot_and_server():
    """The slowest of several hosts counts; processes of the machine itself boot nothing."""
    ready = {"ready_s/app-1": 2.0}
    two = [("container", {"all": 0.5}), ("container", {"all": 1.5})]
    assert guests.first_answer_s("app-1")(bundle_of({}, two, **ready)) == 3.5
    assert guests.first_answer_s("app-1")(bundle_of({}, **ready)) == 2.0
    assert guests.first_answer_s("app-1")(bundle_of({}, [("bare", {})], **ready)) == 2.0
    assert guests.first_answer_s("app-1")(bundle_of({}, two)) is None


def test_a_piece_of_a_boot_is_told_or_missing():
    """A container has no kernel that boots."""
    kernel = [("paravirtual-kernel", {"all": 3.0, "kernel": 1.0})]
    assert guests.boot_s("kernel")(bundle_of({}, kernel)) == 1.0
    assert guests.boot_s("kernel")(bundle_of({}, [("container", {"all": 0.5})])) is None
    assert guests.boot_s("kernel")(bundle_of({})) is None


def test_cpu_time_of_hosts_is_told_apart():
    """By the control group of each; a name that begins with another's is another host."""
    seen = bundle_of(
        {
            ("local", "cgroup/left", "cgroup_cpu_s"): 0.8,
            ("local", "cgroup/left-2", "cgroup_cpu_s"): 7.0,
            ("local", "cgroup/right", "cgroup_cpu_s"): 0.2,
        }
    )
    assert guests.cpus_used("left")(seen) == pytest.approx(0.8)
    assert guests.times_as_much("left", "right")(seen) == pytest.approx(4.0)
    assert guests.times_as_much("left", "nobody")(seen) is None


def test_a_limit_shows_in_its_periods():
    """Without a limit there are no periods, and nothing to tell."""
    periods = {
        ("local", "cgroup/box", "cgroup_periods"): 10.0,
        ("local", "cgroup/box", "cgroup_throttled_periods"): 9.0,
    }
    assert guests.stopped_share("box")(bundle_of(periods)) == pytest.approx(90)
    assert guests.stopped_share("box")(bundle_of(dict.fromkeys(periods, 0.0))) is None
    assert guests.stopped_share("box")(bundle_of({})) is None


def test_what_a_guest_does_not_count_is_its_devices():
    """This machine's account less the guest's own; None where the guest says nothing."""
    taken = {("local", "cgroup/box", "cgroup_cpu_s"): 0.5}
    own = {("box", "inside", f"inside_cpu_s/{kind}"): 0.1 for kind in ("user", "system", "irq")}
    assert guests.cpus_beyond("box")(bundle_of(taken | own)) == pytest.approx(0.2)
    assert guests.cpus_beyond("box")(bundle_of(taken)) is None


def test_switches_that_nobody_counts_are_missing():
    """A kernel that shows none at all does not count them."""
    both = ("switches_voluntary", "switches_involuntary")
    seen = {("box", "process/app-1", name): 5.0 for name in both}
    assert guests.switches_per_request("app-1")(bundle_of(seen)) == pytest.approx(4.0)
    assert guests.switches_per_request("app-1")(bundle_of(dict.fromkeys(seen, 0.0))) is None
    assert guests.switches_per_request("app-1")(bundle_of({})) is None
