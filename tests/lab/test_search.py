"""Sessions that search: what they try, when they end, what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from synthetic_bundles import closed_rows, write_synthetic

from sizebook.lab import Setup, app_stack, place
from sizebook.lab.profiles import PROFILES
from sizebook.lab.search import Search, boundaries, grid, search_sessions, visited
from sizebook.lab.trials import Trial
from sizebook.model.criterion import Criterion
from sizebook.model.design import Factor
from sizebook.model.load import ClosedLoop, LoadProfile, Phases
from sizebook.model.trial import TrialSpec
from sizebook.store import Bundle

LIMIT_MS = 20.0
CRITERIA = (
    Criterion(statistic="p95", limit_ms=LIMIT_MS),
    Criterion(statistic="p95", limit_ms=2 * LIMIT_MS),
)


def search(**changed: Any) -> Search:
    given: dict[str, Any] = {
        "experiment": "capacity",
        "variable": "users",
        "levels": grid(1, 64, 2, whole=True),
        "criteria": CRITERIA,
        "replicates": 1,
        "seed": 1,
    }
    return Search(**(given | changed))


def treat(treatment: Any) -> Setup:
    load = LoadProfile(
        locustfile="synthetic.py",
        arrivals=ClosedLoop(users=int(treatment["users"])),
        phases=Phases(warmup_s=2.0, measured_s=10.0),
        cpus=(0,),
    )
    return Setup(app_stack(place((0, 1), 4096)), load)


class Machine:
    """Stands in for the bench: a request takes 1.5 ms a user. It keeps what it ran."""

    def __init__(self, folder: Path, failing: tuple[int, ...] = ()) -> None:
        self.folder = folder
        self.failing = failing
        self.ran: list[Bundle] = []

    def run(self, spec: TrialSpec) -> Bundle:
        users = int(spec.treatment["users"])
        outcome = "failed" if users in self.failing else "completed"
        rows = closed_rows(users=min(users, 4), service_ns=1_500_000 * users)
        name = f"trial-{len(self.ran)}"
        bundle = write_synthetic(self.folder, name, rows=rows, spec=spec, outcome=outcome)
        self.ran.append(bundle)
        return bundle

    def find(self, spec: TrialSpec) -> Bundle | None:
        return next((b for b in self.ran if b.record.trial == spec), None)


def carry_out(machine: Machine, session: Any) -> list[Bundle]:
    done: list[Bundle] = []
    while due := session.remaining(done):
        done.append(machine.run(due[0]))
    return done


def test_grid_steps_by_the_ratio() -> None:
    assert grid(1, 64, 2, whole=True) == (1, 2, 4, 8, 16, 32, 64)
    assert grid(1, 3, 1.2, whole=True) == (1, 2, 3), "equal neighbours are left out"
    assert grid(100, 1000, 10) == (100.0, 1000.0)
    for wrong in ((0, 1, 2), (2, 1, 2), (1, 2, 1)):
        with pytest.raises(ValueError, match="grid"):
            grid(*wrong)


def test_finds_the_boundary_of_each_criterion(tmp_path: Path) -> None:
    """13 users take 19.5 ms and 26 users 39 ms: levels 8 and 16 are the last to pass."""
    one = search(agree=2)
    machine = Machine(tmp_path)
    (session,) = search_sessions("synthetic", PROFILES["quick"], one, treat, 0.0)
    trials = [Trial(bundle) for bundle in carry_out(machine, session)]
    found = boundaries(one, trials)
    assert found["last_pass"].to_list() == [8.0, 16.0]
    assert found["first_fail"].to_list() == [16.0, 32.0]
    assert found["settled"].to_list() == [True, True]
    assert found["trials"].to_list() == [len(trials)] * 2
    assert len({str(t.bundle.record.trial.treatment) for t in trials}) == len(trials)
    design = visited(one, trials)
    assert {t["users"] for t in design.treatments()} == {t.treatment["users"] for t in trials}


def test_an_interrupted_search_goes_on_where_it_was(tmp_path: Path) -> None:
    """What is on disk is not run again, and the way taken is the same."""
    machine, other = Machine(tmp_path / "a"), Machine(tmp_path / "b")
    (session,) = search_sessions("synthetic", PROFILES["quick"], search(), treat, 0.0)
    whole = [b.record.trial for b in carry_out(machine, session)]
    for spec in whole[:3]:
        other.run(spec)
    found = session.collect(other.find)
    assert [b.record.trial for b in found] == whole[:3]
    rest = carry_out(other, session.after(found))
    assert [b.record.trial for b in rest] == whole[3:]
    assert not session.after(session.collect(other.find)).remaining(())


def test_a_search_longer_than_guessed_goes_on_with_its_deployment(tmp_path: Path) -> None:
    """Its last trial was disturbed and is run again: the session still knows what to start."""
    (session,) = search_sessions("synthetic", PROFILES["quick"], search(agree=4), treat, 0.0)
    whole = carry_out(Machine(tmp_path), session)
    assert len(whole) > len(session.trials)
    for done in range(len(whole)):
        rest = session.after(whole[:done])
        assert rest.deployment == session.deployment
        assert rest.planned_s() > 0
        assert [one.record.trial for one in whole[done : done + 1]] == list(rest.remaining(()))


def test_a_trial_that_fails_counts_as_too_much_load(tmp_path: Path) -> None:
    machine = Machine(tmp_path, failing=(4, 8, 16, 32, 64))
    one = search(criteria=CRITERIA[:1])
    (session,) = search_sessions("synthetic", PROFILES["quick"], one, treat, 0.0)
    found = boundaries(one, [Trial(bundle) for bundle in carry_out(machine, session)])
    assert (found["last_pass"][0], found["first_fail"][0]) == (2.0, 4.0)
    assert found["fail_verdict"][0] == "failed"


def test_gives_up_after_so_many_trials_and_says_so(tmp_path: Path) -> None:
    one = search(most=2)
    (session,) = search_sessions("synthetic", PROFILES["quick"], one, treat, 0.0)
    trials = [Trial(bundle) for bundle in carry_out(Machine(tmp_path), session)]
    assert len(trials) == 2
    assert not boundaries(one, trials)["settled"].any()


def test_further_factors_are_searched_by_themselves() -> None:
    """One session a level and block, each with its conditioning load."""
    one = search(factors=(Factor("threads", (2, 50)),), replicates=3)
    sessions = search_sessions("synthetic", PROFILES["quick"], one, treat, 5.0)
    assert len(sessions) == 6
    first = {s.remaining(())[0].treatment["threads"] for s in sessions}
    assert first == {2, 50}
    assert all(s.conditioning for s in sessions)


@pytest.mark.parametrize(
    "wrong", [{"criteria": ()}, {"start": 7}, {"levels": (4, 2)}, {"levels": (2, 2)}]
)
def test_refuses_a_search_without_sense(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"criterion|start|ascend"):
        search(**wrong)
