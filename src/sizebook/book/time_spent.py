"""Where the time went that a book's trials took: starts, conditioning, load, and the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sizebook.book.ledger.discoveries import DECIDED
from sizebook.book.ledger.rows import LedgerRow
from sizebook.book.records import read_records
from sizebook.store import Project
from sizebook.store.glance import glance_at
from sizebook.store.rounds import find_rounds, open_published

_NS = 1e-9


@dataclass(frozen=True)
class TimeSpent:
    """The time that the trials of some chapters took, in seconds."""

    trials: int = 0
    starts: int = 0
    """How often a stack was started for them."""
    setup_s: float = 0.0
    """Until stacks were ready."""
    conditioning_s: float = 0.0
    """Loads after a start, before its first trial."""
    warm_up_s: float = 0.0
    """Ramps and warm-ups of trials."""
    measured_s: float = 0.0
    rest_s: float = 0.0
    """Draining, reading counters, writing bundles, and whatever came between trials."""
    decided: int = 0
    """Claims that the trials decide."""

    @property
    def all_s(self) -> float:
        """All of it."""
        return self.setup_s + self.conditioning_s + self.warm_up_s + self.measured_s + self.rest_s

    @property
    def decided_per_h(self) -> float:
        """Claims decided in an hour of it; 0 where nothing took any time."""
        return self.decided / (self.all_s / 3600) if self.all_s else 0.0

    def __add__(self, other: TimeSpent) -> TimeSpent:
        return TimeSpent(*(a + b for a, b in zip(_parts(self), _parts(other), strict=True)))


def _parts(spent: TimeSpent) -> tuple[Any, ...]:
    return tuple(vars(spent).values())


def find_time_spent(
    root: Path, pages: Sequence[str], rows: Iterable[LedgerRow]
) -> tuple[dict[str, TimeSpent], bool]:
    """Return the time behind each page of a book that rests on trials, and whether all is own.

    ``pages`` are those of the book, ``rows`` its ledger. A page's own trials come before published
    ones of the same name. What was tried and is shown nowhere, such as a trial that failed and was
    measured again, is time between others.
    """
    project = Project(root)
    places = [project.runs, *([open_published(project)] if find_rounds(project) else [])]
    decided = Counter(
        row.evidence.page for row in rows if row.evidence is not None and row.state in DECIDED
    )
    found, own = {}, True
    for page in pages:
        notebook = root / "book" / f"{page}.ipynb"
        if not notebook.exists():
            continue
        names = {
            source["bundle"]
            for record in read_records(notebook).values()
            for source in record.evidence["sources"]
        }
        here = []
        for name in sorted(names):
            for place in places:  # of the chapter's own: borrowed trials are the lender's time
                if (execution := _execution(place / notebook.stem / name)) is not None:
                    here.append(execution)
                    own = own and place == project.runs
                    break
        if here:
            found[page] = _add_up(here, decided[page])
    return found, own


def _execution(bundle: Path) -> Mapping[str, Any] | None:
    """Return how a trial went, as far as a record says all that its time is made of."""
    execution = (glance_at(bundle) or {}).get("execution")
    parts = {"session", "started_utc", "phases"}
    return execution if isinstance(execution, dict) and parts <= set(execution) else None


def _add_up(executions: Sequence[Mapping[str, Any]], decided: int) -> TimeSpent:
    sessions: dict[str, list[Mapping[str, Any]]] = {}
    for each in executions:
        sessions.setdefault(str(each["session"]), []).append(each)
    total = TimeSpent(decided=decided)
    for session in sessions.values():
        total += time_of_session(session)
    return total


def time_of_session(session: Sequence[Mapping[str, Any]]) -> TimeSpent:
    """Return the time of one start; what is missing in a record counts as none.

    Treatments that take turns begin together, and have phases in times of their own that add up.
    """
    setup_s = max(_fact(each, "setup_s") for each in session)
    conditioning_s = max(_fact(each, "conditioned_s") for each in session)
    warm_up_s = sum(_phases_s(each, ("ramp", "warm-up", "between")) for each in session)
    measured_s = sum(_phases_s(each, ("measured",)) for each in session)
    begun = [_utc_s(each) for each in session]
    ended = max(begin + _phases_s(each) for begin, each in zip(begun, session, strict=True))
    loads_s = max(ended - min(begun), sum(map(_phases_s, session)))
    whole_s = setup_s + conditioning_s + loads_s
    known_s = setup_s + conditioning_s + warm_up_s + measured_s
    return TimeSpent(
        trials=len(session),
        starts=1,
        setup_s=setup_s,
        conditioning_s=conditioning_s,
        warm_up_s=warm_up_s,
        measured_s=measured_s,
        rest_s=max(0.0, whole_s - known_s),
    )


def _fact(execution: Mapping[str, Any], name: str) -> float:
    value = execution.get("facts", {}).get(name, 0.0)
    return float(value) if isinstance(value, int | float) else 0.0


def _phases_s(execution: Mapping[str, Any], names: Sequence[str] = ()) -> float:
    return sum(_lengths_s(execution["phases"], names))


def _lengths_s(phases: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Iterator[float]:
    for mark in phases:
        if not names or mark["name"] in names:
            yield (mark["end_ns"] - mark["begin_ns"]) * _NS


def _utc_s(execution: Mapping[str, Any]) -> float:
    return datetime.fromisoformat(execution["started_utc"].replace("Z", "+00:00")).timestamp()
