"""The one family of errors a user is meant to read."""

from __future__ import annotations

from sizebook.model.plain_text import on_one_line


class UserError(Exception):
    """Something the user can mend: what was found, what was expected, what to do next.

    ``str()`` is one line in which nothing steers a terminal. The command line prints that line and
    exits with 1; any other exception is a bug and keeps its traceback.
    """

    def __init__(self, *, found: str, expected: str, next_step: str) -> None:
        self.found = found
        self.expected = expected
        self.next_step = next_step
        super().__init__(found, expected, next_step)

    def __str__(self) -> str:
        found, expected, step = map(on_one_line, (self.found, self.expected, self.next_step))
        return f"found {found}; expected {expected}; next: {step}"

    def __reduce__(self) -> tuple[object, tuple[type[UserError], str, str, str]]:
        return _rebuild, (type(self), self.found, self.expected, self.next_step)


class UsageError(UserError):
    """A flag, name or value on the command line or in a notebook's parameters is not usable."""


class HostLacksError(UserError):
    """This machine lacks something that the work needs; the next step says what would bring it."""


class TrialError(UserError):
    """A trial could not be carried out; it is stored as a failed bundle that says so."""


class LostError(TrialError):
    """A process that the trial needs was killed, or is gone: with a fresh start it may succeed."""


class LocustfileError(TrialError):
    """A locustfile cannot be loaded: every trial with it would fail alike."""


class BundleError(UserError):
    """A bundle on disk is damaged, foreign, or of a version this reader does not know."""


class MeasurementLockedError(UserError):
    """Another measurement holds this machine; one runs at a time."""


def _rebuild(kind: type[UserError], found: str, expected: str, next_step: str) -> UserError:
    return kind(found=found, expected=expected, next_step=next_step)
