"""What only plain Locust users need of a trial: their command line, their exceptions, their end."""

from __future__ import annotations

import contextlib
from pathlib import Path
from time import monotonic_ns
from typing import Any

from locust.runners import STATE_CLEANUP, STATE_STOPPED, STATE_STOPPING

from sizebook.load.course import TrialSchedule
from sizebook.load.options import chosen_classes, default_options
from sizebook.load.protocol import Order
from sizebook.load.schedule import user_share
from sizebook.load.users import Scenario, place_of
from sizebook.model.bundle import EXIT_CODE, SCRIPT_ERROR, SCRIPT_ERRORS
from sizebook.model.errors import TrialError
from sizebook.model.records import Scalar


class PlainFile:
    """A locustfile as Locust's own command line would run it; of scenarios it notes exceptions."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self.name = Path(order.locustfile).name
        self.options: Any = None
        """``environment.parsed_options``; None where a scenario is among the classes."""
        self._errors = 0
        self._first = ""

    def choose(self, classes: list[type[Any]]) -> list[type[Any]]:
        """Return the classes that are to run, and read the options. Raises UserError."""
        if any(issubclass(user, Scenario) for user in classes):
            return classes
        order, urls = self._order, list(self._order.targets.values())
        self.options = default_options(
            self.name,
            host=urls[0] if len(urls) == 1 else None,
            users=len(user_share(order.load.arrivals.users, order.worker, order.workers)),
            settings=order.load.settings,
        )
        return chosen_classes(classes, self.options.user_classes, self.name)

    def note(self, error: BaseException) -> None:
        """Count an exception that ended a task, or a user."""
        self._errors += 1
        if not self._first:
            place = place_of(error, self.name)
            self._first = f"{type(error).__name__} in {place}: {error}"[:200]

    def notes(self, environment: Any) -> dict[str, Scalar]:
        """Return the facts of exceptions, and the exit code that the locustfile has set."""
        notes: dict[str, Scalar] = {SCRIPT_ERRORS: self._errors}
        if self._first:
            notes[SCRIPT_ERROR] = self._first
        if code := environment.process_exit_code:
            notes[EXIT_CODE] = code
        return notes

    def look_for_users(self, course: TrialSchedule, runner: Any) -> None:
        """Have the trial fail whose users are all gone before its end, or that was ended."""
        is_ended = runner.state in (STATE_STOPPING, STATE_CLEANUP, STATE_STOPPED)
        if not course.users or not (is_ended or (course.stages is None and not runner.user_count)):
            return
        after_s = (monotonic_ns() - course.start_ns) / 1e9
        what = (
            f"{self.name}, which ended the load" if is_ended else f"all users of {self.name} gone"
        )
        why = f"; {self._first}" if self._first else ""
        planned_s = course.load.phases.planned_s
        error = TrialError(
            found=f"{what} {after_s:.1f} s after its start, of {planned_s:g} s{why}",
            expected="users who go on until the trial is over",
            next_step=f"correct {self.name}: an exception in on_start, StopUser and runner.quit() "
            "end users; or choose a shorter trial",
        )
        course.fail(error, self.name)


def left_by_exit(error: SystemExit, place: str) -> TrialError:
    """Return what to tell of a ``sys.exit()`` in a locustfile."""
    return TrialError(
        found=f"an exit (sys.exit, code {error.code}) in {place}",
        expected="a locustfile that lets the trial end",
        next_step="remove the exit from it",
    )


def say_goodbye(environment: Any) -> None:
    """Fire what Locust's own command line fires at its end; an exit there ends nothing here."""
    with contextlib.suppress(SystemExit):
        environment.events.quitting.fire(environment=environment, reverse=True)
    with contextlib.suppress(SystemExit):
        environment.events.quit.fire(exit_code=environment.process_exit_code or 0)
