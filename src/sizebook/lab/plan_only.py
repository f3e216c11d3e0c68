"""A notebook that is read for its plan alone: it says what it would measure, and measures none."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import MappingProxyType

from sizebook.lab.planning import Session


@dataclass(frozen=True)
class PlanWords:
    """What a plan has to say beside its sessions; each once, in order."""

    assumed: dict[str, None] = field(default_factory=dict)
    """What nobody has tried on this machine yet."""
    remarks: dict[str, None] = field(default_factory=dict)
    """What will be measured in another way than the chapter asks for, and why."""
    tries: bool = False
    """Whether what this machine can do is tried out, as before a measurement."""


_PLANNING: ContextVar[PlanWords | None] = ContextVar("planning", default=None)


class PlanComplete(Exception):  # noqa: N818 - not an error: ends a notebook that is only planned
    """Carries the plan out of a notebook that is read for its plan alone."""

    def __init__(
        self,
        sessions: tuple[Session, ...],
        missing: tuple[Session, ...],
        notes: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        super().__init__("the plan is complete")
        self.sessions = sessions
        """Every session of every design."""
        self.missing = missing
        """The sessions that would be run, with the trials that are not on disk yet."""
        self.notes = notes
        """What each of their trials is to tell of what this machine lacks."""


@contextlib.contextmanager
def planning_only(*, tries: bool = False) -> Iterator[PlanWords]:
    """Within this context ``ChapterLab.run`` measures nothing and raises PlanComplete.

    Unless it ``tries``, nothing is started to find out what this machine can do; the words that it
    yields say what the plan takes for granted instead, as ``assume`` was told.
    """
    words = PlanWords(tries=tries)
    token = _PLANNING.set(words)
    try:
        yield words
    finally:
        _PLANNING.reset(token)


def is_planned_only() -> bool:
    """Return whether the notebook that runs is only read for its plan."""
    return _PLANNING.get() is not None


def takes_for_granted() -> bool:
    """Return whether what this machine can do is assumed and not tried out."""
    return (plan := _PLANNING.get()) is not None and not plan.tries


def assume(words: str) -> None:
    """Note what a plan takes for granted, since a trial of it would cost what a plan saves."""
    if (plan := _PLANNING.get()) is not None:
        plan.assumed[words] = None


def remark(words: str) -> None:
    """Note that something is measured in another way than its chapter asks for, and why."""
    if (plan := _PLANNING.get()) is not None:
        plan.remarks[words] = None
