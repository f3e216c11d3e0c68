"""From what a file says to what is sent: one system, nothing private, names for endpoints."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sizebook.model.errors import UsageError
from sizebook.store.plain_files import need_plain, read_plain
from sizebook.traffic.carried import CarriedValue, carry_over
from sizebook.traffic.endpoints import name_paths
from sizebook.traffic.private_values import Hiding, Replaced, hide_private
from sizebook.traffic.recordings import RecordedRequest, Recording
from sizebook.traffic.refusals import refused
from sizebook.traffic.replayable import choose_origin, make_replayable

MADE_USERS = 20
MOST_USERS_BYTES = 1 << 26

Row = dict[str, str]


@dataclass(frozen=True)
class PreparedTraffic:
    """A recording that can be written as a load."""

    recording: Recording
    names: tuple[str, ...]
    """Of each request."""
    arrivals: tuple[tuple[float, int], ...] = ()
    """When each request of a log came, in seconds, and the number of the request."""
    users: tuple[Row, ...] = ()
    replaced: tuple[Replaced, ...] = ()
    carried: tuple[CarriedValue, ...] = ()
    origin: str = ""
    """Where it was recorded."""


def prepare(recording: Recording, name: str, data: Path | None = None) -> PreparedTraffic:
    """Return a recording as it can be sent.

    ``data`` is a CSV of users whose columns stand for private values of the same name. Raises
    UsageError if nothing is left to be sent, or the CSV cannot be used.
    """
    origin = choose_origin(recording)
    times: list[tuple[float, int]] = []
    if recording.kind == "log":
        recording, times = _distinct(recording, [])
    recording = make_replayable(recording)
    carried: tuple[CarriedValue, ...] = ()
    if recording.kind == "session":
        recording, carried = carry_over(recording)
    recording, hiding = hide_private(recording)
    if recording.kind == "log":
        recording, times = _distinct(recording, times)
    if not recording.requests:
        raise refused(name, f"{recording.form} without a request that can be sent", "name another")
    rows, notes = _users(hiding, data)
    recording = recording.having(notes=(*recording.notes, *notes))
    return PreparedTraffic(
        recording,
        _names(recording.requests),
        tuple(times),
        rows,
        tuple(hiding.replaced),
        carried,
        origin,
    )


def _distinct(
    recording: Recording, known: list[tuple[float, int]]
) -> tuple[Recording, list[tuple[float, int]]]:
    """Return a log whose requests are there once each, and when which came.

    ``known`` has this for requests that are there once already, and of which some may have gone or
    have become equal; ``place`` is then their number.
    """
    numbers: dict[tuple[object, ...], int] = {}
    unique: list[RecordedRequest] = []
    counts: list[float] = []
    number_of: dict[int, int] = {}
    came: list[tuple[float, int]] = []
    for one in recording.requests:
        key = (one.method, one.path, one.status, one.headers, one.body, one.contains)
        number = numbers.setdefault(key, len(numbers))
        if number == len(unique):
            unique.append(one)
            counts.append(0.0)
        counts[number] += one.weight
        if known:
            number_of[int(one.place)] = number
        else:
            came.append((one.begin_s, number))
    if known:
        came = [(at_s, number_of[number]) for at_s, number in known if number in number_of]
    requests = tuple(replace(one, place=str(n), weight=counts[n]) for n, one in enumerate(unique))
    return recording.having(requests=requests), came


def _names(requests: Sequence[RecordedRequest]) -> tuple[str, ...]:
    """Return a name for each request: the file's own, else method and path without ids."""
    paths = name_paths(one.path for one in requests)
    return tuple(
        one.name or f"{one.method} {paths[one.path.partition('?')[0]]}" for one in requests
    )


def _users(hiding: Hiding, data: Path | None) -> tuple[tuple[Row, ...], list[str]]:
    """Return the rows of ``users.csv``, and what is to be said of them."""
    kinds, notes = hiding.kinds, []
    given = read_users(data) if data is not None else []
    if given:
        lacking = sorted(kinds.keys() - given[0].keys())
        for name in lacking:
            notes.append(f"column {name} is not in {data.name if data else ''}: values are made up")
        rest = {name: kinds[name] for name in lacking}
        return tuple({**row, **hiding.row(rest, n)} for n, row in enumerate(given, 1)), notes
    if not kinds:
        return (), notes
    notes.append("values in users.csv are made up: put in those of users that the system knows")
    return tuple(hiding.row(kinds, number) for number in range(1, MADE_USERS + 1)), notes


def read_users(path: Path) -> list[Row]:
    """Return the rows of a CSV of users. Raises UsageError for what is none."""
    need_plain(path, "a CSV of users")
    try:
        data = read_plain(path, MOST_USERS_BYTES, follow=True)
    except OSError as error:
        raise _no_users(path, error.strerror or "it cannot be read") from error
    if len(data) > MOST_USERS_BYTES:
        raise _no_users(path, "it has more than 64 MiB")
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    first = text.partition("\n")[0]
    delimiter = max(",;\t|", key=first.count)
    try:
        rows = [
            {(k or "").strip(): v or "" for k, v in row.items() if isinstance(k, str)}
            for row in csv.DictReader(io.StringIO(text), delimiter=delimiter)
        ]
    except csv.Error as error:
        raise _no_users(path, str(error)) from error
    if not rows or not all(name.isidentifier() for name in rows[0]):
        raise _no_users(path, "no row, or a column whose name is no word")
    return rows


def _no_users(path: Path, found: str) -> UsageError:
    return UsageError(
        found=f"{path.name}: {found}",
        expected="a CSV with a header, such as username,password, and a row for each user",
        next_step="correct the file given with --data",
    )
