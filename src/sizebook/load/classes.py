"""User classes out of a locustfile: loaded, given their target, and let in by our gate.

A foreign class, written for plain Locust, runs as it is: its tasks and its ``wait_time`` pace it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, cast

import locust
from locust import FastHttpUser, HttpUser, User
from locust.util.load_locustfile import load_locustfile

from sizebook.load.protocol import Order
from sizebook.load.recorder import CONTEXT_KEY
from sizebook.load.users import LeanHttpUser, Scenario, place_of
from sizebook.model.errors import TrialError, UsageError
from sizebook.model.load import Arrivals, ClosedLoop, PacedUsers


def load_user_classes(path: Path) -> list[type[Any]]:
    """Return the user classes of a locustfile, by Locust's own loader. Raises TrialError."""
    for hook in vars(locust.events).values():  # listeners of the last trial's locustfile
        hook._handlers.clear()
    search_path = sys.path.copy()
    try:
        classes, shapes = load_locustfile(str(path))
    except Exception as error:
        raise TrialError(
            found=f"{type(error).__name__} while loading {place_of(error, path.name)}: {error}",
            expected="a locustfile that can be imported",
            next_step=f"correct {path.name}",
        ) from error
    finally:
        sys.path[:] = search_path
    if shapes:
        raise TrialError(
            found=f"a LoadTestShape in {path.name}",
            expected="arrivals and users from the load profile only",
            next_step="remove the shape and state the load in the profile",
        )
    if not classes:
        raise TrialError(
            found=f"no user class in {path.name}",
            expected="at least one Locust user class that is not abstract",
            next_step="add one, such as a subclass of sizebook.load.users.LeanHttpUser",
        )
    return list(classes.values())


def client_of(classes: list[type[Any]]) -> str:
    """Return which client these user classes send with, in the words of ``GeneratorFacts``."""
    return "+".join(sorted({_client(user) for user in classes}))


def _client(user: type[Any]) -> str:
    for known in (LeanHttpUser, FastHttpUser, HttpUser):
        if issubclass(user, known):
            return known.__name__
    bases = [kind for kind in user.__mro__[1:] if issubclass(kind, User)]
    own = (kind for kind in bases if kind is not Scenario and kind.__module__ != user.__module__)
    return next(own).__name__


class Gate:
    """Put before a foreign user class: waits for the user's turn, tells the recorder who it is."""

    def __init__(self, environment: Any) -> None:
        self.number = environment.course.enroll()
        self.iteration_number = 0
        self.intended_ns = 0
        self.exact = None
        self.error = ""
        super().__init__(environment)  # type: ignore[call-arg]

    def on_start(self) -> None:
        self.environment.course.wait_for_turn(self.number)  # type: ignore[attr-defined]
        super().on_start()  # type: ignore[misc]

    def context(self) -> dict[str, Any]:
        return {**super().context(), CONTEXT_KEY: self}  # type: ignore[misc]


def gated(user: type[Any]) -> type[Any]:
    """Return the foreign user class with a gate before it, under its own name."""
    meta: Any = type(user)
    made: Any = meta(user.__name__, (Gate, user), {"__module__": user.__module__})
    made.weight, made.fixed_count = user.weight, user.fixed_count
    return cast(type[Any], made)


def base_url(user: type[Any], order: Order) -> str:
    """Return the target of a user class: that of its role, or the only one there is."""
    role = getattr(user, "role", "app")
    if role not in order.targets and not issubclass(user, Scenario) and len(order.targets) == 1:
        role = next(iter(order.targets))
    if role not in order.targets:
        raise UsageError(
            found=f"no target for role {role!r} of {user.__name__}",
            expected="a base URL for it; given are " + (", ".join(order.targets) or "none"),
            next_step="add the role to the deployment",
        )
    return order.targets[role]


def refuse_what_foreign_users_cannot(order: Order, name: str) -> None:
    """Raise UsageError if the order wants more of plain Locust users than they can do."""
    load = order.load
    if not isinstance(load.arrivals, ClosedLoop):
        raise UsageError(
            found=f"{load.arrivals.kind} arrivals for {name}, whose users pace themselves",
            expected="a class derived from sizebook.load.users.Scenario",
            next_step="derive the user class from Scenario as well, or choose closed arrivals",
        )
    if load.arrivals.think_s or load.settings:
        raise UsageError(
            found=f"think time or settings for {name}, whose users are plain Locust",
            expected="none: their wait_time and their code decide",
            next_step="derive the user class from sizebook.load.users.Scenario as well",
        )


def refuse_unknown_groups(scenario: type[Scenario], arrivals: Arrivals, name: str) -> None:
    """Raise UsageError unless the load has the groups of users that the scenario tells apart."""
    groups = arrivals.groups if isinstance(arrivals, PacedUsers) else ()
    known = scenario.groups or ("",)
    wrong = [group.name for group in groups if group.name not in known]
    if not wrong and (groups or not scenario.groups):
        return
    names = ", ".join(repr(group) for group in scenario.groups)
    raise UsageError(
        found=(f"group {wrong[0]!r}" if wrong else f"{arrivals.kind} arrivals") + f" for {name}",
        expected=f"paced users in groups named {names}" if names else "groups without a name",
        next_step="correct the arrivals of the load profile",
    )
