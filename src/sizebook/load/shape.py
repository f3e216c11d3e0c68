"""Locust's ``LoadTestShape`` as stages of users: asked second by second, before anything runs.

Locust asks a shape once a second how many users there should be and how many of them may come or
go in a second. A shape that goes by its run time gives the same answers to a clock that is wound
on, and so users over time are known, and stored, before the trial. One that looks at the running
test (its failures, its response times) cannot be known beforehand and is refused.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator
from typing import Any

from sizebook.load.found import FoundShape
from sizebook.model.errors import LocustfileError
from sizebook.model.load import UserStage

LONGEST_S = 24 * 3600
"""How far the clock is wound on at most."""
MOST_USERS = 1_000_000
_SPREAD_S_PER_USER, _MOST_SPREAD_S = 0.0005, 0.05
"""Users come no faster: a burst would queue inside the generator and pass for the server's time."""


_CLOCKS = {
    name: float(int(getattr(time, name)())) for name in ("time", "monotonic", "perf_counter")
}
"""Clocks that a shape may read, and what they say when it begins: whole, so that nothing rounds."""


class _AskedError(Exception):
    """A shape asked for what only a running test knows."""


class _NoRunner:
    """Stands for the runner of a test that does not run: it knows its users and nothing else."""

    def __init__(self) -> None:
        self.user_count = 0

    def __getattr__(self, name: str) -> Any:
        raise _AskedError(name)


def follow(shape: Any, locustfile: str, within_s: float | None) -> FoundShape:
    """Return the stages of a shape, of ``within_s`` seconds at most.

    Raises LocustfileError for a shape that cannot be known beforehand, chooses user classes, has no
    users, or never ends where ``within_s`` is None.
    """
    name = type(shape).__name__
    runner = _NoRunner()
    shape.runner = runner
    stages: list[UserStage] = []
    count, at_s = 0.0, 0
    longest_s = LONGEST_S if within_s is None else min(math.ceil(within_s), LONGEST_S)
    ends = False
    with _clock_at(0):
        shape.reset_time()
    while at_s < longest_s:
        runner.user_count = round(count)
        with _clock_at(at_s):
            asked = _ask(shape, name, locustfile)
        if asked is None:
            ends = True
            break
        target, per_s = asked
        count = _second(stages, count, target, per_s)
        at_s += 1
    if not ends and within_s is None:
        raise LocustfileError(
            found=f"LoadTestShape {name} in {locustfile}, which has not ended after "
            f"{LONGEST_S // 3600} hours",
            expected="a shape whose tick() returns None some time, or a length",
            next_step="give the length: --seconds",
        )
    if max((max(s.begin_users, s.end_users) for s in stages), default=0.0) < 1:
        raise _refused(name, locustfile, "it never asks for a user", "let tick() return users")
    return FoundShape(name=name, stages=_merged(stages, within_s), ends=ends)


def _ask(shape: Any, name: str, locustfile: str) -> tuple[int, float] | None:
    """Return how many users a shape wants now, and how many may come or go in a second."""
    try:
        tick = shape.tick()
    except _AskedError as error:
        raise _refused(
            name,
            locustfile,
            f"it asks for runner.{error}, which only a running test knows: its users would depend "
            "on what it measures",
            "let tick() go by get_run_time() alone",
        ) from error
    except Exception as error:
        raise _refused(
            name, locustfile, f"{type(error).__name__} in tick(): {error}", f"correct {locustfile}"
        ) from error
    if tick is None:
        return None
    if not isinstance(tick, tuple | list) or len(tick) not in (2, 3):
        raise _refused(name, locustfile, f"tick() returned {tick!r:.80}", "return (users, rate)")
    if len(tick) == 3 and tick[2] is not None:
        raise _refused(
            name,
            locustfile,
            "it says which user classes come when, and the classes of a trial's users are fixed",
            "return (users, rate) and give the classes weights, or measure each class by itself",
        )
    users, per_s = tick[:2]
    numbers = all(isinstance(n, int | float) and math.isfinite(n) for n in (users, per_s))
    if not numbers or not 0 <= users <= MOST_USERS or per_s <= 0:
        raise _refused(name, locustfile, f"tick() returned {tick!r:.80}", "return (users, rate)")
    return round(users), float(per_s)


def _refused(name: str, locustfile: str, reason: str, next_step: str) -> LocustfileError:
    return LocustfileError(
        found=f"LoadTestShape {name} in {locustfile}: {reason}",
        expected="users over time that are known before the trial",
        next_step=f"{next_step}; or remove the shape and give --users and --seconds",
    )


def _second(stages: list[UserStage], count: float, target: int, per_s: float) -> float:
    """Add a second in which the users change from ``count`` towards ``target``; return the end."""
    change = target - count
    took_s = max(abs(change) / per_s, min(abs(change) * _SPREAD_S_PER_USER, _MOST_SPREAD_S))
    if change and took_s >= 1:
        end = count + math.copysign(min(abs(change), per_s), change)
        stages.append(UserStage(length_s=1.0, begin_users=count, end_users=end))
        return end
    if change:
        stages.append(UserStage(length_s=took_s, begin_users=count, end_users=target))
    stages.append(UserStage(length_s=1.0 - took_s, begin_users=target, end_users=target))
    return float(target)


def _merged(stages: list[UserStage], within_s: float | None) -> tuple[UserStage, ...]:
    """Return the same users in fewer stages, cut off where they get too long."""
    merged: list[UserStage] = []
    left_s = math.inf if within_s is None else within_s
    for stage in stages:
        if left_s <= 1e-9:
            break
        one = _cut(stage, left_s)
        left_s -= one.length_s
        if merged and math.isclose(_slope(merged[-1]), _slope(one), abs_tol=1e-9):
            last = merged.pop()
            one = UserStage(
                length_s=round(last.length_s + one.length_s, 9),
                begin_users=last.begin_users,
                end_users=one.end_users,
            )
        merged.append(one)
    return tuple(merged)


def _cut(stage: UserStage, most_s: float) -> UserStage:
    if stage.length_s <= most_s:
        return stage
    end = stage.begin_users + _slope(stage) * most_s
    return UserStage(length_s=most_s, begin_users=stage.begin_users, end_users=max(end, 0.0))


def _slope(stage: UserStage) -> float:
    return (stage.end_users - stage.begin_users) / stage.length_s


@contextlib.contextmanager
def _clock_at(run_s: int) -> Iterator[None]:
    """Have all clocks of this process say that a shape has run for so many seconds, exactly."""
    real = {name: getattr(time, name) for name in _CLOCKS}
    try:
        for name, begin in _CLOCKS.items():
            setattr(time, name, lambda now=begin + run_s: now)
        yield
    finally:
        for name, function in real.items():
            setattr(time, name, function)
