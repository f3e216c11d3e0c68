"""Every request of a trial as one binary row, kept in memory until the drain is over.

The recorder listens to Locust's ``request`` event, so that any Locust user class is recorded. Our
own users hand over exact nanoseconds; for other classes (``HttpUser``, ``FastHttpUser``, custom
clients) start and end are derived from the event's ``start_time`` (wall clock, float seconds) and
``response_time`` (float milliseconds): exact to about a microsecond, and received bytes are body
bytes, since the event tells no more.
"""

from __future__ import annotations

import gc
import time
from pathlib import Path
from typing import Any, Protocol

import gevent
import numpy as np
from numpy.typing import NDArray

from sizebook.load.answer import Exchange
from sizebook.load.rows import ROW, ROW_TYPE

CHUNK_ROWS = 4096
"""Rows a chunk: allocating one (200 kB) takes some 30 us, once in 4096 requests."""
LATEST = 64
"""Requests by which somebody who watches is told the latency of now."""
MAX_NAMES = 65_000
OVERFLOW_NAME = "(other names)"
CONTEXT_KEY = "sizebook_user"
"""Key of the event's ``context`` under which users of ours, or wrapped by us, put themselves."""

ERRORS = ("", "connect", "timeout", "reset", "protocol", "status", "body", "unfinished")
"""Error classes that we give; other users' exceptions are classified or kept by class name."""


class Origin(Protocol):
    """The user behind a request, as far as the recorder needs it."""

    number: int
    iteration_number: int
    intended_ns: int
    """Intended start of the next request; 0 where it is the actual start. Taken once."""
    exact: Exchange | None
    """The request just ended, if the user measured it itself."""
    error: str
    """Error class of ``exact``, empty for a success."""


def own_greenlet(running: Any, user: Origin) -> None:
    """Have a user own a greenlet, and all that are spawned in it from now on.

    What they record is that user's, whatever ``context`` they hand to Locust.
    """
    running.spawn_tree_locals = {CONTEXT_KEY: user}


def asking_user() -> Origin | None:
    """Return the user to whom the running greenlet belongs; None if it belongs to nobody."""
    shared = getattr(gevent.getcurrent(), "spawn_tree_locals", None)
    return shared.get(CONTEXT_KEY) if shared else None


def end_what_users_spawned() -> None:
    """Kill the greenlets that users' code has spawned and left running.

    Their requests would be rows of the next trial in this process. A locustfile may keep them
    nowhere, so they are looked for among all objects.
    """
    own = gevent.getcurrent()
    left = [
        each
        for each in gc.get_objects()
        if isinstance(each, gevent.Greenlet)
        and CONTEXT_KEY in (getattr(each, "spawn_tree_locals", None) or ())
        and not (each.dead or each is own)
    ]
    gevent.killall(left, timeout=2.0)


class Recorder:
    """Rows of one trial, and the tables of names and errors that explain their ids."""

    def __init__(self, chunk_rows: int = CHUNK_ROWS) -> None:
        self._chunk_bytes = chunk_rows * ROW.size
        self._full: list[bytearray] = []
        self._chunk = bytearray(self._chunk_bytes)
        self._at = 0
        self._names: dict[str, int] = {}
        self._errors: dict[str, int] = {error: index for index, error in enumerate(ERRORS)}
        self.rows = 0
        self.failed = 0
        self.exact_rows = 0
        """Rows from users that count for themselves how many requests they started."""
        self._wall_offset_ns = time.monotonic_ns() - time.time_ns()

    def on_request(
        self,
        request_type: str,  # noqa: ARG002
        name: str,
        response_time: float | None,
        response_length: int | None,
        response: Any = None,
        context: dict[str, Any] | None = None,
        exception: BaseException | str | None = None,
        start_time: float | None = None,
        **_: Any,
    ) -> None:
        """Record a request; to be added to ``environment.events.request``."""
        user: Origin | None = context.get(CONTEXT_KEY) if context else None
        if user is None:
            user = asking_user()
        if user is not None and (exchange := user.exact) is not None:
            user.exact = None
            start_ns = exchange.start_ns
            intended_ns = user.intended_ns or start_ns
            user.intended_ns = 0
            self.exact_rows += 1
            self.add(
                intended_ns,
                start_ns,
                exchange.end_ns,
                exchange.received_bytes,
                len(exchange.body),
                exchange.sent_bytes,
                user.iteration_number,
                user.number,
                name,
                exchange.status,
                user.error,
            )
            return
        start_ns, end_ns = self._derive(start_time, response_time)
        status = _status_of(response)
        length = min(max(response_length or 0, 0), 2**32 - 1)
        intended_ns, iteration, number = start_ns, 0, 0
        if user is not None:
            if user.intended_ns:
                # Nothing starts before it is due; a derived start can seem to, by a microsecond.
                intended_ns = user.intended_ns
                start_ns, end_ns = max(start_ns, intended_ns), max(end_ns, intended_ns)
                user.intended_ns = 0
            iteration, number = user.iteration_number, user.number
        error = classify(exception, status) if exception else ""
        self.add(
            intended_ns,
            start_ns,
            end_ns,
            length,
            length,
            0,
            iteration,
            number,
            name,
            status,
            error,
        )

    def add(
        self,
        intended_ns: int,
        start_ns: int,
        end_ns: int,
        received_bytes: int,
        body_bytes: int,
        sent_bytes: int,
        iteration: int,
        user: int,
        name: str,
        status: int,
        error: str,
    ) -> None:
        """Record a request whose every value is known."""
        name_id = self._names.get(name)
        if name_id is None:
            name_id = self._new_name(name)
        if error:
            self.failed += 1
            error_id = self._errors.setdefault(error, len(self._errors))
        else:
            error_id = 0
        at = self._at
        ROW.pack_into(
            self._chunk,
            at,
            intended_ns,
            start_ns,
            end_ns,
            received_bytes,
            body_bytes,
            sent_bytes,
            iteration,
            user,
            name_id,
            status,
            error_id,
        )
        self.rows += 1
        at += ROW.size
        if at == self._chunk_bytes:
            self._full.append(self._chunk)
            self._chunk = bytearray(self._chunk_bytes)
            at = 0
        self._at = at

    @property
    def names(self) -> tuple[str, ...]:
        """Names by their ids."""
        return tuple(self._names)

    @property
    def errors(self) -> tuple[str, ...]:
        """Error classes by their ids."""
        return tuple(self._errors)

    def latest_latency_ms(self) -> float | None:
        """Return the median latency of the latest requests, ``LATEST`` at most; None: none yet.

        It takes some 20 us, however many there were.
        """
        rows = np.frombuffer(self._chunk, ROW_TYPE, self._at // ROW.size)[-LATEST:]
        if not rows.size:
            return None
        return float(np.median(rows["end_ns"] - rows["intended_ns"])) * 1e-6

    def write(self, path: Path) -> None:
        """Write all rows to a file, in the order in which the requests ended."""
        with path.open("wb") as sink:
            for chunk in self._full:
                sink.write(chunk)
            sink.write(memoryview(self._chunk)[: self._at])

    def array(self) -> NDArray[np.void]:
        """Return all rows as one structured array, in the order in which the requests ended."""
        parts: list[bytearray] = [*self._full, self._chunk[: self._at]]
        return np.frombuffer(b"".join(parts), dtype=ROW_TYPE)

    def _new_name(self, name: str) -> int:
        if len(self._names) >= MAX_NAMES:
            name = OVERFLOW_NAME
        return self._names.setdefault(name, len(self._names))

    def _derive(self, start_time: float | None, response_time: float | None) -> tuple[int, int]:
        now_ns = time.monotonic_ns()
        took_ns = max(0, round((response_time or 0.0) * 1e6))
        start_ns = now_ns - took_ns
        if start_time is not None:
            told_ns = round(start_time * 1e9) + self._wall_offset_ns
            # With ``catch_response`` the event comes at the end of the with-block, so what it
            # tells is older than now. After a step of the wall clock it would lie in the future.
            if told_ns <= start_ns + 1_000_000:
                start_ns = min(told_ns, start_ns)
        return start_ns, start_ns + took_ns


def _status_of(response: Any) -> int:
    status = getattr(response, "status_code", 0)
    return status if isinstance(status, int) and 0 <= status < 1000 else 0


def classify(  # noqa: PLR0911 (one rule a line)
    exception: BaseException | str, status: int
) -> str:
    """Return our error class for what a foreign client raised, or the exception's class name."""
    names = {kind.__name__ for kind in type(exception).__mro__}
    text = str(exception)
    if any("Timeout" in name for name in names) or "timed out" in text:
        return "timeout"
    if "CatchResponseError" in names or isinstance(exception, str):
        return text if text in ERRORS[1:] else "body"  # as ``Expect.judge`` names our classes
    if status >= 400:
        return "status"
    if "ConnectionRefusedError" in names or "refused" in text:
        return "connect"
    if names & {"ConnectionResetError", "BrokenPipeError", "HTTPConnectionClosed"}:
        return "reset"
    if "Incomplete" in text:  # "Incomplete response." (FastHttpUser), "IncompleteRead(" (HttpUser)
        return "reset"
    if any("Connection" in name for name in names):
        return "reset" if "reset" in text or "aborted" in text else "connect"
    if "HTTPException" in names:  # of http.client: base of both clients' parse errors
        return "protocol"
    return type(exception).__name__
