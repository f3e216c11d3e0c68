"""User classes out of a locustfile: loaded, given their target, and let in by our gate.

A foreign class, written for plain Locust, runs as it is: its tasks and its ``wait_time`` pace it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic_ns
from typing import Any, cast

import gevent
import locust
from gevent.pool import Group
from locust import FastHttpUser, HttpUser, TaskSet, User, between
from locust.event import Events
from locust.exception import StopUser
from locust.util.load_locustfile import load_locustfile

from sizebook.load.answer import Exchange
from sizebook.load.clients import guard_client
from sizebook.load.course import TrialSchedule
from sizebook.load.plain import left_by_exit
from sizebook.load.protocol import Order
from sizebook.load.recorder import CONTEXT_KEY, own_greenlet
from sizebook.load.schedule import ThinkTimes
from sizebook.load.users import LeanHttpUser, Scenario, next_step_of, place_of
from sizebook.model.errors import LocustfileError, UsageError, UserError
from sizebook.model.load import Arrivals, ClosedLoop, PacedUsers


def load_user_classes(path: Path, *, staged: bool = False) -> list[type[Any]]:
    """Return the user classes of a locustfile, by Locust's own loader. Raises LocustfileError.

    Listeners of the locustfile that was loaded before hear no more. A ``LoadTestShape`` is refused
    unless the load is ``staged``: then the load profile says what the shape would.
    """
    classes, shapes = load_whole(path)
    if shapes and not staged:
        raise LocustfileError(
            found=f"LoadTestShape {type(shapes[0]).__name__} in {path.name}, which says how many "
            "users there are when",
            expected="users and arrivals from the load profile, which is recorded with the trial",
            next_step="sizebook run --locustfile takes stages of users from the shape; in a "
            "chapter state stages=... of ClosedLoop, or a staircase or ramp of arrivals",
        )
    return classes


def load_whole(path: Path) -> tuple[list[type[Any]], list[Any]]:
    """Return user classes and load shapes of a locustfile. Raises LocustfileError."""
    for hook in vars(locust.events).values():
        hook._handlers.clear()
    search_path = sys.path.copy()
    try:
        classes, shapes = load_locustfile(str(path))
    except UserError:
        raise
    except ModuleNotFoundError as error:
        raise LocustfileError(
            found=f"no package {error.name}, which {place_of(error, path.name)} imports",
            expected="every module that a locustfile imports, beside it or installed",
            next_step=f"install the package that brings {error.name} into the environment of "
            f"sizebook, or put the module beside {path.name}",
        ) from error
    except SystemExit as error:
        raise LocustfileError(
            found=f"exit ({error}) while loading {place_of(error, path.name)}",
            expected="a locustfile that can be imported",
            next_step=f"correct {path.name}",
        ) from error
    except Exception as error:
        place = place_of(error, path.name)
        raise LocustfileError(
            found=f"{type(error).__name__} while loading {place}: {error}",
            expected="a locustfile that can be imported",
            next_step=next_step_of(error, path.name),
        ) from error
    finally:
        sys.path[:] = search_path
    if not classes:
        raise LocustfileError(
            found=f"no user class in {path.name}",
            expected="at least one Locust user class that is not abstract",
            next_step="add one, such as a subclass of locust.HttpUser, or of "
            "sizebook.load.users.LeanHttpUser",
        )
    return list(classes.values()), shapes


def own_events() -> Events:
    """Return Locust's events for one of several trials, with the listeners of locustfiles.

    Those of the whole process would tell each trial's recorder of the others' requests.
    """
    events: Any = Events()  # type: ignore[no-untyped-call]
    for name, hook in vars(locust.events).items():
        vars(events)[name]._handlers.extend(hook._handlers)
    return cast(Events, events)


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


class Guest:
    """What the recorder is told of a foreign user; apart from it, since its names are its own."""

    def __init__(self, course: TrialSchedule) -> None:
        self.number = course.enroll()
        self.iteration_number = course.next_iteration()
        self.intended_ns = 0
        self.exact: Exchange | None = None
        self.error = ""


class Gate:
    """Put before a foreign user class: waits for the user's turn, tells the recorder who it is.

    Each of its tasks is a pass. Between two it pauses as its own ``wait_time`` says, or as long as
    the load profile's users think.
    """

    def __init__(self, environment: Any) -> None:
        self._sizebook_course = course = environment.course
        self._sizebook_guest = Guest(course)
        self._sizebook_think: ThinkTimes | None = None
        arrivals = course.load.arrivals
        if isinstance(arrivals, ClosedLoop) and arrivals.think_s:
            self._sizebook_think = ThinkTimes(
                arrivals, course.load.seed, self._sizebook_guest.number
            )
        super().__init__(environment)  # type: ignore[call-arg]
        guard_client(self, course.fence)

    def start(self, group: Group) -> Any:
        running = super().start(group)  # type: ignore[misc]
        own_greenlet(running, self._sizebook_guest)
        return running

    def run(self) -> None:
        try:
            super().run()  # type: ignore[misc]
        except SystemExit as error:  # would end this process
            name = self._sizebook_course.load.locustfile
            self._sizebook_course.fail(left_by_exit(error, place_of(error, name)), name)

    def on_start(self) -> None:
        course, number = self._sizebook_course, self._sizebook_guest.number
        course.wait_for_turn(number)
        if not course.await_place(number):
            raise StopUser
        begin = super().on_start  # type: ignore[misc]
        if begin.__func__ is User.on_start:  # does nothing
            return
        with course.joining():
            begin()

    def wait_time(self) -> float:
        return self.sizebook_pause(super().wait_time)  # type: ignore[misc]

    def sizebook_pause(self, own: Callable[[], float]) -> float:
        """End a pass; return the seconds that are left of the pause before the next one.

        ``own`` says how long the locustfile pauses.
        """
        course, guest = self._sizebook_course, self._sizebook_guest
        guest.iteration_number = course.next_iteration()
        if self._sizebook_think is not None:
            course.think(self._sizebook_think)
            if monotonic_ns() >= course.end_ns:  # the end cuts a pause short
                raise StopUser
        elif course.stages is None:
            return float(own())
        else:
            gevent.sleep(own())
        if not course.await_place(guest.number):
            raise StopUser
        return 0.0

    def context(self) -> dict[str, Any]:
        return {**super().context(), CONTEXT_KEY: self._sizebook_guest}  # type: ignore[misc]


def _gate_pauses(user: type[Any]) -> None:
    """Have TaskSets that pause by a ``wait_time`` of their own end their user's pass, too."""
    for task_set in _task_sets(user):
        own = task_set.wait_time
        if own is not TaskSet.wait_time and not hasattr(own, "sizebook_own"):
            task_set.wait_time = _gated_pause(own)


def _task_sets(user: type[Any]) -> list[Any]:
    """Return the TaskSets among a user's tasks and among theirs, each once."""
    found: dict[Any, None] = {}
    due: list[Any] = [user]
    while due:
        for task in due.pop().tasks:
            if isinstance(task, type) and issubclass(task, TaskSet) and task not in found:
                found[task] = None
                due.append(task)
    return list(found)


def _gated_pause(own: Callable[[Any], float]) -> Any:
    def wait_time(task_set: Any) -> float:
        return task_set.user.sizebook_pause(lambda: own(task_set))  # type: ignore[no-any-return]

    wait_time.sizebook_own = own  # type: ignore[attr-defined]
    return wait_time


def number_of(user: Any) -> int:
    """Return the number of a user that was let in, foreign or ours."""
    number: int = getattr(user, "_sizebook_guest", user).number
    return number


def gated(user: type[Any]) -> type[Any]:
    """Return the foreign user class with a gate before it, under its own name."""
    _gate_pauses(user)
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


def refuse_what_foreign_users_cannot(order: Order, classes: Sequence[type[Any]], name: str) -> None:
    """Raise UsageError if the order wants more of plain Locust users than they can do."""
    load = order.load
    if order.turns is not None:
        raise UsageError(
            found=f"turns for {name}, whose users pace themselves",
            expected="a class derived from sizebook.load.users.Scenario, whose passes wait for the "
            "next turn",
            next_step="derive the user class from Scenario as well, or take no turns",
        )
    if not isinstance(load.arrivals, ClosedLoop):
        raise UsageError(
            found=f"{load.arrivals.kind} arrivals for {name}, whose users pace themselves",
            expected="a class derived from sizebook.load.users.Scenario",
            next_step="derive the user class from Scenario as well, or choose closed arrivals",
        )
    if load.arrivals.think_s and (own := pauses_of(classes)):
        raise UsageError(
            found=f"think_s={load.arrivals.think_s:g} of the load profile beside {own} of {name}",
            expected="pauses that are stated once",
            next_step="remove wait_time from the locustfile, or think_s from the profile",
        )


def pauses_of(classes: Sequence[type[Any]]) -> str:
    """Return how plain users pause between tasks by their own words; empty if they do not."""
    found: dict[str, None] = {}
    for user in classes:
        own = [_pause_of(user, User.wait_time)]
        own += [_pause_of(task_set, TaskSet.wait_time) for task_set in _task_sets(user)]
        found |= dict.fromkeys(filter(None, own))
    return ", ".join(found)


def _pause_of(owner: Any, default: Any) -> str:
    """Return the pause of a user class or a TaskSet; empty where it is the default."""
    own = getattr(owner.wait_time, "sizebook_own", owner.wait_time)
    return "" if own is default else _told(own)


def _told(wait_time: Any) -> str:
    """Return Locust's word for a pause with its seconds; its function's name if it is another's."""
    name = getattr(wait_time, "__qualname__", type(wait_time).__name__)
    if getattr(wait_time, "__module__", "") != between.__module__:
        return str(name)
    cells = zip(wait_time.__code__.co_freevars, wait_time.__closure__ or (), strict=True)
    stated = {name: cell.cell_contents for name, cell in cells}
    if not any(stated.values()):
        return ""
    seconds = ", ".join(f"{stated[name]:g}" for name in sorted(stated, reverse=True))  # min, max
    return f"{name.partition('.')[0]}({seconds})"


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
