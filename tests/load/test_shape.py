"""Users over time: a LoadTestShape as stages, and who is there when."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest
from pydantic import ValidationError

from sizebook.checks.facts import refuse_coming_users
from sizebook.checks.rules import DoesNotApply
from sizebook.load.shape import follow
from sizebook.load.stages import FOREVER_NS, StagedUsers
from sizebook.model.errors import LocustfileError
from sizebook.model.load import ClosedLoop, LoadProfile, Phases, UserStage


class Shape:
    """What Locust's LoadTestShape does with its clock."""

    def reset_time(self):
        self.start_time = time.perf_counter()

    def get_run_time(self):
        return time.perf_counter() - self.start_time

    def get_current_user_count(self):
        return self.runner.user_count


def shape_of(answer):
    """Return a shape whose tick is a function of it."""
    return type("Asked", (Shape,), {"tick": answer})()


def stages(*triples):
    return tuple(UserStage(length_s=s, begin_users=a, end_users=b) for s, a, b in triples)


def by_time(*steps):
    """Return a tick that gives (users, rate) up to the end of each step, then None."""

    def tick(shape):
        now = shape.get_run_time()
        return next((answer for end, *answer in steps if now < end), None)

    return tick


@pytest.mark.parametrize(
    ("tick", "within_s", "expected", "ends"),
    [
        (by_time((10, 5, 5)), None, [(1, 0, 5), (9, 5, 5)], True),
        (by_time((4, 10, 5), (8, 0, 10)), None,
         [(2, 0, 10), (2, 10, 10), (1, 10, 0), (3, 0, 0)], True),
        (by_time((100, 50, 0.5)), 4.5, [(4.5, 0, 2.25)], False),
        (by_time((3, 2, 1e9), (9, 1, 1)), 4.0,
         [(0.001, 0, 2), (2.999, 2, 2), (1, 2, 1)], False),
        (lambda s: (s.get_current_user_count() + 1, 1) if s.get_run_time() < 3 else None,
         None, [(3, 0, 3)], True),
    ],
)  # fmt: skip
def test_a_shape_that_goes_by_its_clock_is_known_beforehand(tick, within_s, expected, ends):
    """Users come and go at the rate it says; what is alike is one stage; seconds are exact."""
    found = follow(shape_of(tick), "x.py", within_s)
    got = [(one.length_s, one.begin_users, one.end_users) for one in found.stages]
    assert [tuple(map(pytest.approx, one)) for one in expected] == got
    assert (found.name, found.ends) == ("Asked", ends)


def test_a_shape_may_read_the_wall_clock_itself():
    """Whatever clock it asks, it is the one that is wound on; afterwards all is as it was."""
    begin = []

    def tick(_):
        begin.append(time.time())
        return (1, 1) if time.time() - begin[0] < 1000 else None

    real = time.time
    found = follow(shape_of(tick), "x.py", None)
    assert sum(one.length_s for one in found.stages) == pytest.approx(1000)
    assert time.time is real


@pytest.mark.parametrize(
    ("tick", "told"),
    [
        (lambda s: (s.runner.stats.total.fail_ratio, 1), "it asks for runner.stats"),
        (lambda _: (5, 1, [Shape]), "it says which user classes come when"),
        (lambda _: (0, 1), "it never asks for a user"),
        (lambda _: 5, "tick() returned 5"),
        (lambda _: (5, 0), "tick() returned (5, 0)"),
        (lambda _: (-1, 1), "tick() returned (-1, 1)"),
        (lambda _: (float("nan"), 1), "tick() returned (nan, 1)"),
        (lambda _: ("5", 1), "tick() returned ('5', 1)"),
        (lambda _: 1 / 0, "ZeroDivisionError in tick()"),
        (lambda _: None, "it never asks for a user"),
    ],
)
def test_a_shape_that_is_not_known_beforehand_is_refused(tick, told):
    """By its name, with the reason and what to do."""
    with pytest.raises(LocustfileError) as refused:
        follow(shape_of(tick), "x.py", 3.0)
    assert "LoadTestShape Asked in x.py: " in refused.value.found
    assert told in refused.value.found
    assert "--users and --seconds" in refused.value.next_step


def test_a_shape_without_an_end_needs_a_length():
    """A day is as far as anybody looks."""
    with pytest.raises(LocustfileError, match="has not ended after 24 hours"):
        follow(shape_of(lambda _: (5, 1)), "x.py", None)


def load(*triples, warmup_s=1.0):
    most = max(max(a, b) for _, a, b in triples)
    return LoadProfile(
        locustfile="x.py",
        arrivals=ClosedLoop(users=most, stages=stages(*triples)),
        phases=Phases(warmup_s=warmup_s, measured_s=100.0),
    )


def test_users_are_there_while_there_is_a_place_for_them():
    """As many as the number rounded; the last to come is the first to go, and comes back first."""
    staged = StagedUsers.of(load((2, 1, 1), (2, 1, 3), (1, 3, 3), (1, 0, 0), (2, 0, 2), (4, 2, 2)))
    seconds = [[(a / 1e9, b / 1e9 if b != FOREVER_NS else None) for a, b in staged.stays(user)]
               for user in range(4)]  # fmt: skip
    assert seconds == [
        [(0.0, 6.0), (7.5, None)],
        [(3.5, 6.0), (8.5, None)],
        [(4.5, 6.0)],
        [],
    ]
    assert staged.first == 1
    assert staged.next_ns(0, 0) == 0
    assert staged.next_ns(1, 0) == 3_500_000_000
    assert staged.next_ns(0, 6_500_000_000) == 7_500_000_000
    assert staged.next_ns(2, 6_500_000_000) is None


def test_a_load_without_stages_is_as_it_was():
    """Nor does its JSON mention them, so that trials from before are the same trials."""
    plain = ClosedLoop(users=3)
    assert "stages" not in plain.canonical_json()
    assert (plain.varies, plain.length_s, plain.counts) == (False, 0.0, (3.0, 3.0))
    profile = LoadProfile(
        locustfile="x.py", arrivals=plain, phases=Phases(warmup_s=0, measured_s=1)
    )
    assert StagedUsers.of(profile) is None


@pytest.mark.parametrize("triples", [[(1, 0, 0)], [(1, 0, 4)]])
def test_stages_without_users_or_with_too_many_are_refused(triples):
    """There are three."""
    with pytest.raises(ValidationError):
        ClosedLoop(users=3, stages=stages(*triples))


def test_rules_of_a_steady_load_do_not_apply_to_one_that_varies():
    """The level changes because the users do."""
    trial = SimpleNamespace(load=load((5, 1, 4)), purpose="measured")
    with pytest.raises(DoesNotApply, match="users come and go on purpose, 1 to 4 at a time"):
        refuse_coming_users(trial)
    refuse_coming_users(SimpleNamespace(load=load((5, 4, 4)), purpose="measured"))
