"""The words that the lab and a generator exchange: one JSON object a line, one key an object.

To the generator: ``order`` (prepare a trial), ``go`` (start what was ordered), ``stop`` (end it
early, keep what was recorded); the end of its standard input ends it. From the generator: ``ready``
(imports are done), ``prepared``, ``tick`` (once a second), ``done`` (of each trial, in the order in
which they were ordered), ``error``. Before all but the first and the ticks comes ``read``, if the
locustfile has read files that were not told yet.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from sizebook.load.turns import TurnOrder
from sizebook.model.bundle import GeneratorFacts, PhaseMark, TurnMark
from sizebook.model.errors import LocustfileError, TrialError, UsageError, UserError
from sizebook.model.load import LoadProfile
from sizebook.model.records import Record, Scalars, Strings

ROWS_FILE = "requests.bin"
SCHEDULE_FILE = "schedule.npy"
NO_LATER_NS = 0
"""``start_ns`` of ``go``: as soon as it arrives."""


class Order(Record):
    """One trial for one worker."""

    load: LoadProfile
    locustfile: str
    """Full path of the locustfile."""
    targets: Strings
    """Base URL by role, such as ``{"app": "http://127.0.0.1:8101"}``."""
    out: str
    """Folder for this worker's files; made if it is missing."""
    worker: int = 0
    workers: int = 1
    turns: TurnOrder | None = None
    """When the load is this trial's; None: throughout."""
    beside: bool = False
    """Whether it is carried out together with those ordered before; else they are dropped."""
    neighbours: Strings = Field(default_factory=dict)
    """Further base URLs that the process may connect to, for the trials beside it."""


class Go(Record):
    """When the trial starts, on CLOCK_MONOTONIC."""

    start_ns: int = NO_LATER_NS


class Ready(Record):
    """The generator can take orders."""

    versions: Strings


class Prepared(Record):
    """Everything that need not be measured is done."""

    users: int
    arrivals: int | None
    """Arrivals of this worker's share of the schedule; None for closed loops."""


class Read(Record):
    """Files that the locustfile has read since the last such word."""

    files: Strings
    """Name to checksum, as ``data_files.print_files`` gives them."""


class Tick(Record):
    """Sign of life, once a second while a trial runs."""

    elapsed_s: float
    requests: int
    failed: int
    users: int
    latency_ms: float | None = None
    """Median of the latest requests; None before there was one."""


class Done(Record):
    """A trial's end: facts, phases as they were run, and what explains the row file."""

    facts: GeneratorFacts
    phases: tuple[PhaseMark, ...]
    rows: int
    names: tuple[str, ...]
    errors: tuple[str, ...]
    seconds: tuple[tuple[int, dict[str, float]], ...]
    """Per second: its end in CLOCK_MONOTONIC ns and the generator's counters."""
    stopped_early: bool
    turns: tuple[TurnMark, ...] = ()
    """The turns that counted, of a trial that took turns."""
    notes: Scalars
    """Further facts: retries, connections opened, errors raised by the locustfile; which of several
    addresses of a target's name was used, as ``address_app``."""


_KINDS: Mapping[str, type[UserError]] = {"usage": UsageError, "locustfile": LocustfileError}
"""Kinds of failures that the lab treats differently from a trial that failed."""


class Failure(Record):
    """A UserError on its way to the lab."""

    kind: str
    found: str
    expected: str
    next_step: str

    @classmethod
    def of(cls, error: UserError) -> Failure:
        """Return the failure that tells this error."""
        kinds = (kind for kind, one in _KINDS.items() if isinstance(error, one))
        return cls(
            kind=next(kinds, "trial"),
            found=error.found,
            expected=error.expected,
            next_step=error.next_step,
        )

    def error(self) -> UserError:
        """Return the error that this failure tells."""
        kind = _KINDS.get(self.kind, TrialError)
        return kind(found=self.found, expected=self.expected, next_step=self.next_step)


def encode(word: str, content: Record | None = None) -> str:
    """Return one line for the pipe."""
    body: Any = content.model_dump(mode="json") if content is not None else {}
    return json.dumps({word: body}, separators=(",", ":")) + "\n"


def decode(line: str | bytes) -> tuple[str, str]:
    """Return word and content (JSON text) of a line; ValueError if it is not of the protocol."""
    try:
        value = json.loads(line)
    except RecursionError as error:
        raise ValueError(f"nested too deeply: {line[:80]!r}") from error
    if not isinstance(value, dict) or len(value) != 1:
        raise ValueError(f"not one word with its content: {line[:80]!r}")
    ((word, content),) = value.items()
    if not isinstance(content, dict):
        raise ValueError(f"content of {word!r} is no object")
    return word, json.dumps(content)
