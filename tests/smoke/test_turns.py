"""Treatments that take turns, measured for real: what each bundle holds, and what is its own."""

from __future__ import annotations

import dataclasses
import itertools
import os

import numpy as np
import pytest

from sizebook.book.audit.facts import contradictions, recomputed
from sizebook.lab import Setup, place, profiles
from sizebook.lab import measuring as measuring_module
from sizebook.lab.chapter_lab import ChapterLab
from sizebook.lab.deployments import app_stack, null_server
from sizebook.model.bundle import NO_SESSION
from sizebook.model.design import Design, Factor
from sizebook.model.load import ClosedLoop, LoadProfile, OpenArrivals, Phases, Turns
from sizebook.report.gc_logs import gc_logs
from sizebook.report.measures import throughput_per_s
from sizebook.store import Project
from sizebook.store.bundles import verify_bundle

ROUNDS = 12
TURNS = Turns(turn_s=0.4, settle_s=0.1)


@pytest.fixture(scope="module")
def project(copied_project):
    """A copy of the project, whose smoke profile takes turns long enough to be judged."""
    with pytest.MonkeyPatch.context() as patch:
        smoke = dataclasses.replace(profiles.PROFILES["smoke"], rounds=ROUNDS, turns=TURNS)
        patch.setitem(profiles.PROFILES, "smoke", smoke)
        yield Project(copied_project.root)


def lab_of(project, name, treat, *factors, seed=1):
    """Return the lab of a chapter with one design that takes turns."""
    lab = ChapterLab(name, profile="smoke", source="measure", seed=seed, project=project)
    lab.add(Design(name, factors, 1, seed), treat, 0.3, turns=True)
    return lab


def pages(here, heap_mib=96, arrivals=None):
    """Return what reads pages from an app node."""
    load = LoadProfile(
        locustfile="flight.py",
        arrivals=arrivals or ClosedLoop(users=3),
        phases=Phases(warmup_s=1, measured_s=1, drain_s=2),
        settings={"flights": 20},
        cpus=here.generator[:1],
    )
    return Setup(app_stack(here, heap_mib=heap_mib, flights=20), load)


@pytest.fixture(scope="module")
def heaps(project):
    """Two heaps, each a stack of its own, and two loads of each that share it."""
    here = place()
    open_load = OpenArrivals(kind="poisson", rate_per_s=40, users=20)
    loads = {"closed": ClosedLoop(users=3), "open": open_load}
    lab = lab_of(
        project,
        "heaps-in-turns",
        lambda t: pages(here, int(t["heap_mib"]), loads[str(t["load"])]),
        Factor("heap_mib", (96, 128)),
        Factor("load", ("closed", "open"), plot="sub"),
    )
    return lab.run()["heaps-in-turns"]


def test_each_treatment_leaves_a_whole_bundle(heaps):
    """All of one session, complete, and each says the same of itself twice."""
    assert len(heaps) == 4
    assert len({trial.bundle.record.execution.session for trial in heaps}) == 1
    for trial in heaps:
        bundle = trial.bundle
        assert bundle.record.outcome == "completed", bundle.record.failure
        verify_bundle(bundle)
        assert list(contradictions(bundle.record, bundle.id)) == []
        assert list(recomputed(bundle)) == []
        assert len(bundle.record.trial.beside) == 3
        found = {one.rule: one for one in trial.judgement.findings}
        for rule in ("SB100-completed", "SB101-accounting", "SB102-clock"):
            assert found[rule].passed, found[rule].message
        assert found["SB601-steady"].passed is None
        assert found["SB604-ratio"].numbers["rounds"] == ROUNDS


def test_the_measured_phase_is_the_turns_that_counted(heaps):
    """As long as they are together; requests of all of them are in it, none from between."""
    for trial in heaps:
        bundle = trial.bundle
        mark = bundle.record.execution.phase("measured")
        length_s = ROUNDS * TURNS.counted_s
        assert (mark.end_ns - mark.begin_ns) / 1e9 == pytest.approx(length_s)
        rows = bundle.measured
        turn = (rows["intended_ns"].to_numpy() - mark.begin_ns) // round(TURNS.counted_s * 1e9)
        assert set(turn) <= set(range(ROUNDS))
        assert len(set(turn)) >= ROUNDS - 1
        assert throughput_per_s(bundle) == pytest.approx(rows.height / length_s, rel=0.01)


def test_no_two_trials_have_the_load_at_a_time(heaps):
    """Their turns, of all four, do not overlap; each has one a round, all follow at once."""
    turns = sorted(
        (turn.begin_ns, turn.end_ns)
        for trial in heaps for turn in trial.bundle.record.execution.turns
    )  # fmt: skip
    assert len(turns) == 4 * ROUNDS
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(turns))


def test_counters_are_booked_to_the_turns(heaps):
    """What a node used while the load was another's is not in its measured phase.

    But for what came while it was read, and for what was under way as a turn began to count.
    """
    busiest_per_s = max(throughput_per_s(trial.bundle) for trial in heaps)
    under_way = 40 * TURNS.settle_s + 3
    for trial in heaps:
        bundle = trial.bundle
        mark = bundle.record.execution.phase("measured")
        served = bundle.readings.find("server/app-", "requests_total")
        assert len(served) == 1
        inside = served[0].within(mark.begin_ns, mark.end_ns)
        if not inside.size:  # a reading was late: then nobody says whose it was
            continue
        assert inside.size == ROUNDS + 1
        (late,) = bundle.readings.find("probes", f"late_s/prometheus:{served[0].source}")
        late_s = np.diff(late.within(mark.begin_ns, mark.end_ns)[[0, -1]])[0]
        error = late_s * busiest_per_s + under_way * ROUNDS
        assert inside[-1] - inside[0] == pytest.approx(bundle.measured.height, abs=error)


def test_a_schedule_is_kept_in_turns(heaps):
    """Open arrivals: each is due in a turn, and none is lost."""
    for trial in heaps:
        if trial.treatment["load"] == "open":
            facts = trial.bundle.record.generator
            assert facts.dropped == 0
            offsets = trial.bundle.schedule["offset_ns"].to_numpy()
            begin_ns = trial.bundle.record.execution.phases[0].begin_ns
            intended = np.sort(trial.bundle.requests["intended_ns"].to_numpy())
            assert np.array_equal(offsets + begin_ns, intended)


def test_a_log_of_collections_is_in_own_time(heaps):
    """Collections of the turns lie in the phase; none lies beyond the trial."""
    for trial in heaps:
        marks = trial.bundle.record.execution.phases
        for log in gc_logs(trial.bundle).values():
            times = log.pauses["end_ns"].drop_nulls()
            assert ((times > marks[0].begin_ns - 60e9) & (times < marks[-1].end_ns + 60e9)).all()


def test_what_was_measured_is_not_measured_again_but_as_a_whole(project, heaps, monkeypatch):
    """A block is there or it is not: a further level has all of them measured anew."""
    here = place()
    asked = []
    monkeypatch.setattr(measuring_module, "measure", lambda *given: asked.append(given[2]))

    def again(*levels):
        lab = lab_of(project, "heaps-in-turns", lambda t: pages(here, int(t["heap_mib"])),
                     Factor("heap_mib", levels))  # fmt: skip
        lab.run()

    open_load = OpenArrivals(kind="poisson", rate_per_s=40, users=20)
    loads = {"closed": ClosedLoop(users=3), "open": open_load}
    lab_of(
        project,
        "heaps-in-turns",
        lambda t: pages(here, int(t["heap_mib"]), loads[str(t["load"])]),
        Factor("heap_mib", (96, 128)),
        Factor("load", ("closed", "open"), plot="sub"),
    ).run()
    assert asked == []
    again(96, 128, 160)
    assert [len(session.trials) for session in asked[0]] == [3]
    assert heaps[0].bundle.record.key not in {
        spec.identity for session in asked[0] for spec in session.trials
    }


def test_a_killed_node_fails_the_whole_block(project, monkeypatch):
    """Nothing of it could be compared; the reason names the node; nothing is left running."""
    here = place()
    killed = []

    def kill_one(stack, record, settling, stop_trial):
        def look(tick):
            if tick.elapsed_s > 2 and not killed:
                killed.append(stack.nodes[0].process.pid)
                os.kill(killed[0], 9)
            look_on(tick)

        look_on = watch(stack, record, settling, stop_trial)
        return look

    from sizebook.lab import taking_turns
    from sizebook.lab.watching import watch

    monkeypatch.setattr(taking_turns, "watch", kill_one)
    monkeypatch.setattr(taking_turns, "_STARTS", 1)

    def treat(_):
        load = LoadProfile(locustfile="null.py", arrivals=ClosedLoop(users=2),
                           phases=Phases(warmup_s=1, measured_s=1, drain_s=1),
                           cpus=here.generator[:1])  # fmt: skip
        return Setup(null_server(here), load)

    smoke = dataclasses.replace(profiles.PROFILES["smoke"], fresh_starts=True)
    monkeypatch.setitem(profiles.PROFILES, "smoke", smoke)
    lab = lab_of(project, "killed-in-turns", treat, Factor("side", ("a", "b")))
    found = lab.run()["killed-in-turns"]
    assert killed
    assert len(found) == 2
    for trial in found:
        assert trial.verdict == "failed"
        assert "nullserver-1" in trial.bundle.record.failure
        assert trial.bundle.record.failure.count("killed") or "-9" in trial.bundle.record.failure


def test_a_locustfile_that_cannot_be_loaded_fails_each_block_and_is_started_for_once(project):
    """The reason names the file; the second block starts no stack for it."""
    here = place()
    (project.locustfiles / "broken_turns.py").write_text("raise ValueError('on purpose')\n")

    def treat(_):
        load = LoadProfile(
            locustfile="broken_turns.py",
            arrivals=ClosedLoop(users=1),
            phases=Phases(warmup_s=1, measured_s=1),
            cpus=here.generator[:1],
        )
        return Setup(null_server(here), load)

    lab = ChapterLab("broken-in-turns", profile="smoke", source="measure", seed=1, project=project)
    lab.add(Design("broken", (Factor("side", ("a", "b")),), 2, 1), treat, 0.0, turns=True)
    found = lab.run()["broken"]
    assert [trial.verdict for trial in found] == ["failed"] * 4
    assert all("broken_turns.py, line 1" in trial.bundle.record.failure for trial in found)
    started = {trial.bundle.record.execution.session for trial in found}
    assert len(started - {NO_SESSION}) == 1
