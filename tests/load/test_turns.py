"""Trials that take turns: one generator, several targets, each with the load for a while."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest

from sizebook.load.collect import Collected, collect
from sizebook.load.turns import TurnOrder, TurnTimes
from sizebook.model.errors import UsageError
from sizebook.model.load import (
    ClosedLoop,
    LoadProfile,
    OpenArrivals,
    PacedGroup,
    PacedUsers,
    Phases,
    Turns,
)

TURNS = Turns(turn_s=0.2, settle_s=0.05)
PHASES = Phases(warmup_s=0.2, measured_s=0.6, drain_s=1.0, turns=TURNS)
"""One turn that does not count, four that do."""
FIRST, SECOND = (0, 400, 1000, 1200, 1800), (200, 600, 800, 1400, 1600)
"""When turns of two trials begin, in ms: in each round the order is the other way round."""
BEGINS = FIRST, SECOND

PAGE = """
from sizebook.load.settings import Setting
from sizebook.load.users import Expect, LeanHttpUser

class Reader(LeanHttpUser):
    settings = {"path": Setting("/")}

    def iteration(self):
        self.get(str(self.setting("path")), name="page", check=Expect())
"""
FOREIGN = """
from locust import HttpUser, task

class Plain(HttpUser):
    @task
    def get(self):
        self.client.get("/")
"""


def order(begins_ms):
    return TurnOrder(begins_ns=tuple(at * 1_000_000 for at in begins_ms))


def load_of(arrivals, path, phases=PHASES, seed=1):
    return LoadProfile(locustfile="scenario.py", arrivals=arrivals, phases=phases,
                       settings={"path": path}, seed=seed)  # fmt: skip


@pytest.fixture
def duet(generator, tmp_path, locustfiles, server):
    """Have two loads take turns, of ``/a`` and ``/b``; the server counts each."""
    (locustfiles / "scenario.py").write_text(PAGE)
    body = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    server.answers = dict.fromkeys(("/a", "/b"), lambda _: body)

    def run(*arrivals, phases=PHASES) -> list[Collected]:
        for number, (one, begins) in enumerate(zip(arrivals, (FIRST, SECOND), strict=True)):
            load = load_of(one, "/ab"[0] + "ab"[number], phases)
            generator.prepare(load, {"app": server.url}, tmp_path / str(number),
                              turns=order(begins), neighbours={"other": server.url})  # fmt: skip
        parts = generator.carry_out()
        return [collect([part], host="local") for part in parts]

    return run


def begun_in_turns(collected, begins_ms):
    """Return for each request in which of the trial's turns it was sent; -1: in none."""
    start_ns = collected.phases[0].begin_ns
    at_ns = collected.requests["start_ns"].to_numpy() - start_ns
    begins_ns = np.array(begins_ms) * 1_000_000
    turn = np.searchsorted(begins_ns, at_ns, side="right") - 1
    inside = (turn >= 0) & (at_ns < begins_ns[turn] + 200_000_000)
    return np.where(inside, turn, -1)


def test_each_trial_sends_in_its_own_turns_only(duet, server):
    """Both start at the same nanosecond; nothing is sent in another's turn; all is counted."""
    one, two = duet(ClosedLoop(users=3), ClosedLoop(users=2))
    assert one.phases[0].begin_ns == two.phases[0].begin_ns
    for collected, begins, path in ((one, FIRST, "/a"), (two, SECOND, "/b")):
        begun = begun_in_turns(collected, begins)
        assert set(begun) - {-1} == {0, 1, 2, 3, 4}
        # a thread may be stopped between its look at the clock and its request: once a turn
        assert np.count_nonzero(begun == -1) <= 5 * collected.requests["user"].n_unique()
        assert np.count_nonzero(begun == -1) < len(begun) / 4
        assert collected.facts.failed == 0
        assert 0 < collected.facts.completed == collected.requests.height <= server.paths[path]
        start_ns = collected.phases[0].begin_ns
        assert [(t.begin_ns - start_ns, t.from_ns - t.begin_ns, t.end_ns - t.begin_ns)
                for t in collected.turns] == [
            (at * 1_000_000, 50_000_000, 200_000_000) for at in begins[1:]
        ]  # fmt: skip
        assert collected.facts.wall_s == pytest.approx(1.0)
    # what both say they used is no more than the process did
    assert 0 < one.facts.cpu_s + two.facts.cpu_s < 2.2


def test_a_pause_goes_on_when_the_turn_comes_back(duet):
    """Users think by the trial's own time, which stands still while the load is another's."""
    think = ClosedLoop(users=4, think_s=0.12)
    for collected, begins in zip(duet(think, think), BEGINS, strict=True):
        turns = TurnTimes(order(begins), PHASES, collected.phases[0].begin_ns)
        for user in collected.requests.partition_by("user"):
            starts = [turns.own_ns(at) for at in user["start_ns"]]
            ends = [turns.own_ns(at) for at in user["start_ns"] + user["latency_ns"]]
            paused = [later - end for end, later in zip(ends, starts[1:], strict=False)]
            assert len(paused) >= 4
            assert min(paused) >= 0.12e9 - 2e6, "never shorter, however the turns fell"


@pytest.mark.parametrize(
    "arrivals",
    [
        OpenArrivals(kind="constant", rate_per_s=100, users=10),
        OpenArrivals(kind="poisson", rate_per_s=100, users=10),
        PacedUsers(groups=(PacedGroup(users=5, period_s=0.05),)),
    ],
    ids=["constant", "poisson", "paced"],
)
def test_a_schedule_runs_in_its_own_turns(duet, arrivals):
    """Due times are those of the trial's own time; each one is due in its turn, none is lost."""
    one, _ = duet(arrivals, ClosedLoop(users=1))
    turns = TurnTimes(order(FIRST), PHASES, one.phases[0].begin_ns)
    assert one.schedule is not None
    assert abs(len(one.schedule) - 100) <= (0 if arrivals.kind == "constant" else 45)
    due = [one.phases[0].begin_ns + int(at) for at in one.schedule]
    assert sorted(one.requests["intended_ns"]) == due
    assert one.facts.dropped == 0
    begun = [turns.at(at) for at in due]
    assert all(turn and turn.begin_ns <= at < turn.end_ns
               for turn, at in zip(begun, due, strict=True))  # fmt: skip


def test_own_time_and_back():
    """Own time stands still between turns; each own ns has one place, and back."""
    turns = TurnTimes(order(FIRST), PHASES, 5_000)
    assert turns.own_ns(0) == 0
    assert turns.own_ns(5_000 + 100_000_000) == 100_000_000
    assert turns.own_ns(5_000 + 399_000_000) == turns.own_ns(5_000 + 200_000_000) == 200_000_000
    for own_ns in range(0, 1_000_000_000, 37_000_001):
        assert turns.own_ns(turns.wall_ns(own_ns)) == own_ns
    assert turns.wall_ns(1_000_000_000) == 5_000 + 2_000_000_000
    marks = [turns.at(5_000 + at * 1_000_000) for at in (0, 199, 200, 1999, 2000)]
    assert [mark and (mark.begin_ns - 5_000) // 1_000_000 for mark in marks] == [
        0, 0, 400, 1800, None,
    ]  # fmt: skip


@pytest.mark.parametrize("begins", [(), FIRST[:4], (0, 100, 300, 500, 700)])
def test_turns_that_do_not_fit_the_load_are_refused(begins):
    """As many as the phases say, and none that overlaps its neighbour."""
    with pytest.raises(ValueError, match="turns"):
        TurnTimes(order(begins), PHASES, 0)


def test_plain_users_do_not_take_turns(generator, tmp_path, locustfiles, server):
    """Their own code paces them, so nothing would keep them from sending in another's turn."""
    (locustfiles / "scenario.py").write_text(FOREIGN)
    load = LoadProfile(locustfile="scenario.py", arrivals=ClosedLoop(users=1), phases=PHASES)
    with pytest.raises(UsageError, match=r"turns for scenario\.py"):
        generator.prepare(load, {"app": server.url}, tmp_path, turns=order(FIRST))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"measured_s": 0.7}, "whole turns"),
        ({"warmup_s": 0.3}, "whole turns"),
        ({"ramp_s": 0.2}, "no ramp"),
    ],
)
def test_phases_of_broken_turns_are_refused(changed, message):
    """Half a turn would be compared with whole ones."""
    with pytest.raises(ValueError, match=message):
        Phases(**({"warmup_s": 0.2, "measured_s": 0.6} | changed), turns=TURNS)


def test_a_load_without_turns_says_nothing_of_them():
    """So that no key of a trial that was measured without them changes."""
    assert "turns" not in Phases(warmup_s=1, measured_s=1).model_dump_json()
    assert PHASES.planned_s == pytest.approx(1.0)
    assert (PHASES.rounds, PHASES.warm_turns) == (4, 1)


def test_phases_follow_each_other(duet):
    """By the clock the measured phase reaches from the first turn that counts to the last."""
    for collected in duet(ClosedLoop(users=1), ClosedLoop(users=1)):
        marks = collected.phases
        assert [mark.name for mark in marks] == ["warm-up", "measured", "drain"]
        assert all(one.end_ns == two.begin_ns for one, two in itertools.pairwise(marks))
        assert marks[1].begin_ns == collected.turns[0].begin_ns
        assert marks[1].end_ns == collected.turns[-1].end_ns
        ticks = collected.counters.filter(pl.col("metric").cast(pl.String) == "lag_p99_ms")
        assert ticks.height == 10, "begin and rest of each turn"
