"""What the machine interfered with is measured again: never for its results, never for ever."""

import pytest
from synthetic_bundles import closed_rows, write_synthetic

from sizebook.checks import judge
from sizebook.lab import Setup, app_stack, measurement_cache, place
from sizebook.lab.measurement_cache import Archive
from sizebook.lab.planning import plan_sessions
from sizebook.lab.profiles import PROFILES
from sizebook.lab.search import Search, search_sessions
from sizebook.model.bundle import Fingerprints
from sizebook.model.criterion import Criterion
from sizebook.model.design import Design, Factor
from sizebook.model.load import ClosedLoop, LoadProfile, Phases
from sizebook.store import Project, cache_key

PRINTS = Fingerprints(stack="", jvm="", locustfile="", machine="")
MOST = 2


def treat(treatment):
    load = LoadProfile(
        locustfile="synthetic.py",
        arrivals=ClosedLoop(users=treatment["users"]),
        phases=Phases(warmup_s=2.0, measured_s=10.0),
        cpus=(0,),
    )
    return Setup(app_stack(place((0, 1), 4096)), load)


@pytest.fixture
def sessions():
    design = Design("synthetic", (Factor("users", (2, 4), "sub"),), 1, 1)
    return plan_sessions("synthetic", PROFILES["quick"], design, treat, 0.0)


@pytest.fixture
def measured(tmp_path, monkeypatch):
    """Return what stores a bundle of a trial: from how much of the time was stolen, in s."""
    monkeypatch.setattr(measurement_cache, "present_fingerprints", lambda *_: PRINTS)
    count = 0

    def store(spec, stolen_s, **more):
        nonlocal count
        count += 1
        users = spec.load.arrivals.users
        counters = {("host", "core_steal_s/0"): stolen_s, ("server/app-1", "requests_total"): 0.0}
        return write_synthetic(
            tmp_path / "data" / "runs" / "synthetic",
            f"trial-{count}",
            rows=closed_rows(users=users),
            counters=counters,
            spec=spec,
            key=cache_key(spec, PRINTS),
            **more,
        )

    store.archive = lambda: Archive(Project(tmp_path), "synthetic")
    return store


def left(found):
    """Return the users of each trial that is left to run."""
    return [spec.load.arrivals.users for one in found for spec in one.remaining(())]


def test_only_what_the_machine_took_time_from_is_run_again(sessions, measured):
    (session,) = sessions
    first, second = session.trials
    measured(first, stolen_s=5.0)
    good = measured(second, stolen_s=0.0)
    assert judge(good).verdict != "valid", "it is doubted for other reasons, and stays"
    again = measured.archive().interfered(sessions, MOST)
    assert left(again) == [first.load.arrivals.users]
    measured(first, stolen_s=0.0)
    assert measured.archive().interfered(sessions, MOST) == ()


def test_it_is_run_again_so_often_and_no_more(sessions, measured):
    """The last one stays as it is, and its doubt with it."""
    (session,) = sessions
    first, second = session.trials
    measured(second, stolen_s=0.0)
    for _ in range(MOST):
        measured(first, stolen_s=5.0)
        assert left(measured.archive().interfered(sessions, MOST)) == [first.load.arrivals.users]
    bundle = measured(first, stolen_s=5.0)
    assert measured.archive().interfered(sessions, MOST) == ()
    assert measured.archive().newest(first).id == bundle.id


def test_a_failed_trial_is_not_the_machines_fault(sessions, measured):
    (session,) = sessions
    for spec in session.trials:
        measured(spec, stolen_s=0.0, outcome="failed")
    assert measured.archive().interfered(sessions, MOST) == ()


def test_a_search_goes_on_from_where_the_machine_interfered(measured):
    """Its next level follows from outcomes; one that cannot be trusted leads nowhere."""
    one = Search("synthetic", "users", (1, 2, 4, 8), (Criterion(statistic="p95", limit_ms=50.0),),
                 replicates=1, seed=1)  # fmt: skip
    (session,) = sessions = search_sessions("synthetic", PROFILES["quick"], one, treat, 0.0)
    done = []
    while due := session.remaining(done):
        done.append(measured(due[0], stolen_s=5.0 if len(done) == 1 else 0.0))
    assert len(done) > 2
    (rest,) = measured.archive().interfered(sessions, MOST)
    assert rest.remaining(()) == (done[1].record.trial,)
