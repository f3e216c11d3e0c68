"""Guests under rules: where each experiment runs, and what is compared."""

import polars as pl
import pytest

from sizebook.chapters.guests import results, rules
from sizebook.lab import MODES, Placement, Trials
from sizebook.lab.modes import ChosenModes
from sizebook.lab.profiles import get_profile
from sizebook.model.design import Factor

HERE = Placement(stack=(1,), generator=(0,), total_heap_mib=4096)
ALL = tuple(MODES)


def make(profile="quick"):
    return rules.Guests(HERE, get_profile(profile, 0), 1, 1536, 25.0)


def test_modes_by_profile():
    """Full has all everywhere; quick leaves slow starts out; smoke proves the plumbing in few."""
    full = rules.modes_by_experiment(ALL, get_profile("full", 0))
    assert set(full.values()) == {ALL}
    quick = rules.modes_by_experiment(ALL, get_profile("quick", 0))
    assert quick["rules"] == ALL and "emulated-vm" not in quick["weights"]
    assert "user-space-kernel" in quick["memory"] and "user-space-kernel" not in quick["density"]
    smoke = rules.modes_by_experiment(ALL, get_profile("smoke", 0))
    assert smoke["weights"] == ("bare", "container") and smoke["density"] == ("container",)


@pytest.mark.parametrize("rule, limit", [("pinned", None), ("floating", None), ("half", 0.5)])
def test_a_rule_is_set_while_the_host_runs(rule, limit):
    """Half a CPU is shared with a process that wants all of it; who floats may use every CPU."""
    setup = make().ruled({"mode": "container", "rule": rule})
    resize, *spikes = setup.disturbances
    assert resize.limits.cpu_limit == limit
    assert bool(spikes) == (rule == "half")
    assert (resize.limits.cpus == (0, 1)) == (rule == "floating")
    assert setup.load.phases.measured_s == 2400 / 60


def test_weights_are_set_on_both_hosts():
    """Both compute without end, unless the one that is asked is alone."""
    both = make().weighted({"mode": "bare", "weights": "1024:256"})
    alone = make().weighted({"mode": "bare", "weights": "alone"})
    weights = [one.limits.cpu_weight for one in both.disturbances if one.limits]
    assert weights == [1024, 256]
    assert [sum(one.action == "spike" for one in each.disturbances) for each in (both, alone)] == [
        2,
        1,
    ]
    assert {host.cpus for host in both.deployment.hosts} == {(1,)}


def test_half_of_the_memory_is_taken_where_it_can_be():
    """A kernel of its own keeps what it has."""
    taken = make().remembered({"mode": "container", "memory": "shrunk"})
    assert taken.disturbances[0].limits.memory_mib == 768
    assert make().remembered({"mode": "paravirtual-kernel", "memory": "fixed"}).disturbances == ()


def test_a_crowd_is_asked_at_one_rate_a_guest():
    """Each guest has a node of its own."""
    setup = make().crowded({"mode": "container", "guests": 4})
    assert setup.load.arrivals.rate_per_s == 100.0
    assert [host.name for host in setup.deployment.hosts] == [f"guest-{n}" for n in (1, 2, 3, 4)]


def test_designs_leave_out_what_cannot_be():
    """Memory is taken from no kernel of its own; one without modes names one."""
    factors = {"memory": Factor("memory", ("fixed", "shrunk")), "density": Factor("guests", (1, 2))}
    modes = {"memory": ("container", "paravirtual-kernel"), "density": ()}
    designs = rules.make_designs(factors, modes, 2, 1)
    assert {tuple(one.values()) for one in designs["memory"].treatments()} == {
        ("container", "fixed"), ("container", "shrunk"), ("paravirtual-kernel", "fixed"),
    }  # fmt: skip
    assert designs["density"].factors[0].levels == ("bare",)


@pytest.fixture
def choice():
    found = ChosenModes(("bare",), {"virtio-vm": "no emulator"})
    return rules.Choice(("bare", "virtio-vm", "container"), found, {"rules": ("bare",)}, "quick")


def test_why_a_mode_was_not_measured(choice):
    """Not asked for, not there, or left out of the profile."""
    assert choice.why_not("bare", "rules") == ""
    assert choice.why_not("emulated-vm", "rules") == "not asked for"
    assert choice.why_not("virtio-vm", "rules") == "no emulator"
    assert "left out of the quick profile" in choice.why_not("container", "rules")
    assert choice.absent("rules", "bare") == ""
    assert choice.absent("rules", "virtio-vm") == "mode virtio-vm was not run: no emulator"
    assert choice.none == "no mode was measured"


def test_modes_and_their_trials(choice):
    """One row a mode with the number of its trials and the reason."""
    design = rules.make_designs(
        {"rules": Factor("rule", ("pinned",))}, {"rules": ("bare",), "memory": ()}, 1, 1
    )["rules"]
    trials = {"rules": Trials(design, [])}
    found = results.modes_frame(choice, trials)
    assert found["mode"].to_list() == list(MODES)
    assert found["rules"].sum() == 0
    columns = [one.name for one in results.modes_columns(trials)]
    assert columns == ["mode", "what", "rules", "why"]


def test_pairs_are_of_one_mode():
    """The left one has the first level."""
    assert rules.pairs_of(["bare"], "rule", "pinned", "floating") == [
        ({"mode": "bare", "rule": "pinned"}, {"mode": "bare", "rule": "floating"})
    ]


def test_a_crowd_holds_if_every_trial_does():
    """Means over trials, and all of them kept the criterion or not."""
    rows = [("bare", 1, "valid", 1.0), ("bare", 1, "valid", 0.0), ("bare", 2, "valid", 1.0)]
    crowd = pl.DataFrame(rows, schema=["mode", "guests", "verdict", "holds"], orient="row")
    names = ("throughput_per_s", "p50_ms", "p95_ms", "each_mib", "boot_s")
    crowd = crowd.with_columns(pl.lit(2.0).alias(name) for name in names)
    assert results.crowd_means(crowd).select("guests", "holds").rows() == [(1, False), (2, True)]
