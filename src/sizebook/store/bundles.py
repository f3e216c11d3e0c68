"""Bundles: finished trials on disk, read only when every checksum holds."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import polars as pl

from sizebook.model.bundle import BundleRecord, FileRecord
from sizebook.model.errors import BundleError
from sizebook.store.columns import ColumnStore, RequestColumns
from sizebook.store.counter_file import COUNTER_FILE, make_rows, read_series
from sizebook.store.digest import read_digests
from sizebook.store.digest_recording import note_use, touch
from sizebook.store.left_out import (
    HISTOGRAMS,
    LEFT_OUT,
    PHASE_HISTOGRAMS,
    LeftOut,
    parse_left_out,
)
from sizebook.store.partial import PARTIAL
from sizebook.store.plain_files import open_plain, plain_size, read_plain
from sizebook.store.readings import Readings
from sizebook.store.record_file import MOST_RECORD_BYTES, RECORD, damaged, parse_record
from sizebook.store.tables import (
    COUNTERS,
    DAY_NS,
    REQUESTS,
    SCHEDULE,
    UNREADABLE,
    TableError,
    TimeRange,
    check_series,
    count_rows,
    read_table,
)
from sizebook.store.thread_cache import Once

__all__ = [
    "COUNTERS",
    "HISTOGRAMS",
    "PARTIAL",
    "RECORD",
    "REQUESTS",
    "SCHEDULE",
    "Bundle",
    "find_bundles",
    "newest_of",
    "open_bundle",
    "verify_bundle",
    "verify_file",
]

MOST_BYTES = {".parquet": 4 * 2**30, ".hlog": 256 * 2**20} | dict.fromkeys(
    (".json", ".log", ".steps"), 16 * 2**20
)
"""Longest file of a bundle, by the ending of its name."""
_MOST_DEPTH = 32


_Read = TypeVar("_Read")


@dataclass(frozen=True)
class Bundle:
    """One finished trial on disk. Tables are read when first asked for, then kept."""

    path: Path
    record: BundleRecord
    """What ``trial.json`` holds; of its files only those that are there."""
    left_out: tuple[str, ...] = ()
    """Files that ``trial.json`` names and the bundle came without, on purpose."""
    instead: Mapping[str, FileRecord] = field(default_factory=lambda: MappingProxyType({}))
    """Files that it came with for some of those, in another form (``left_out.STAND_INS``)."""

    @property
    def id(self) -> str:
        """Short name that is unique within a project."""
        return self.path.name

    @cached_property
    def sha256(self) -> str:
        """Checksum of ``trial.json``, which holds the checksums of all other files."""
        return hashlib.sha256(_read_small(self.path, RECORD, MOST_RECORD_BYTES)).hexdigest()

    @property
    def requests(self) -> pl.DataFrame:
        """One row a request, columns as in ``model.bundle.REQUEST_COLUMNS``.

        Raises BundleError if the bundle came without its requests (published ones do).
        """
        touch()
        return self._requests

    @property
    def columns(self) -> RequestColumns:
        """The same requests by column, each read when first asked for: for sums over millions.

        A published bundle knows their number alone. Raises BundleError if the bundle came without
        its requests, or the file is damaged.
        """
        touch()
        return self._columns

    @cached_property
    def digest(self) -> Mapping[str, Any]:
        """What was derived from rows that are left out, encoded, by question; else empty.

        ``store.derived`` asks it. Raises BundleError for a damaged one.
        """
        return self._digest[1] if self._digest is not None else {}

    @cached_property
    def has_digest(self) -> bool:
        """Whether the bundle is in its published form: without rows, with what they tell."""
        return self._digest is not None

    @cached_property
    def _digest(self) -> tuple[int, dict[str, Any]] | None:
        return read_digests(self.path, self.id) if self.left_out else None

    @cached_property
    def _requests(self) -> pl.DataFrame:
        return self._table(REQUESTS)

    @cached_property
    def _columns(self) -> RequestColumns:
        if REQUESTS not in self.record.files and self._digest is not None:
            height = self._digest[0]
        else:
            height = self._read(REQUESTS, lambda _, rows: rows)
        return RequestColumns(ColumnStore(self.request_column), slice(0, height))

    @cached_property
    def counters(self) -> pl.DataFrame:
        """One row a reading, columns as in ``model.bundle.COUNTER_COLUMNS``."""
        return make_rows(self.readings) if COUNTER_FILE in self.instead else self._table(COUNTERS)

    @property
    def has_counters(self) -> bool:
        """Whether it has readings."""
        return COUNTERS in self.record.files or COUNTER_FILE in self.instead

    def open_histograms(self) -> Path | None:
        """Return the file with the histograms of latency, by second or of the measured phase.

        None without one. Raises BundleError if the file's checksum is not the recorded one.
        """
        names = [name for name in (HISTOGRAMS, PHASE_HISTOGRAMS) if name in self.record.files]
        if not names:
            return None
        verify_file(self, names[0])
        return self.path / names[0]

    @cached_property
    def readings(self) -> Readings:
        """The same readings by series, each with its times and values as arrays."""
        if COUNTER_FILE not in self.instead:
            return Readings.of(self.counters)
        verify_file(self, COUNTER_FILE)
        data = _read_small(self.path, COUNTER_FILE, MOST_BYTES[".steps"])
        try:
            return Readings(check_series(read_series(data), self._times))
        except TableError as error:
            raise damaged(self.id, f"{COUNTER_FILE} with {error}") from error

    @property
    def schedule(self) -> pl.DataFrame:
        """Due times of an open load: ``offset_ns`` from the begin of the first phase, ascending.

        Raises BundleError if there is none: closed loops have no schedule, published ones leave it.
        """
        touch()
        return self._schedule

    @property
    def measured(self) -> pl.DataFrame:
        """The requests of the measured phase."""
        touch()
        return self._measured

    @cached_property
    def _schedule(self) -> pl.DataFrame:
        return self._table(SCHEDULE)

    @cached_property
    def _measured(self) -> pl.DataFrame:
        return self._requests.filter(pl.col("phase") == "measured")

    def _table(self, name: str) -> pl.DataFrame:
        return self._read(name, lambda path, _: read_table(path, self._times))

    def request_column(self, column: str) -> pl.Series:
        """Return one column of the requests, which is not kept."""
        frame = self._read(REQUESTS, lambda path, _: read_table(path, self._times, [column]))
        return frame.to_series()

    def _read(self, name: str, read: Callable[[Path, int], _Read]) -> _Read:
        if name not in self.record.files:
            failure = self.record.failure
            raise BundleError(
                found=f"bundle {self.id} without {name}",
                expected="a bundle with it",
                next_step=f"look at why the trial failed: {failure}"
                if failure
                else "measure the trial on this machine: published ones answer no more than their "
                "pages asked",
            )
        try:
            rows = self._rows.get(name, lambda: self._verify_table(name))
            return read(self.path / name, rows)
        except TableError as error:
            raise damaged(self.id, f"{name} with {error}") from error
        except UNREADABLE as error:
            first_line = str(error).partition("\n")[0][:300]
            raise BundleError(
                found=f"{name} of bundle {self.id} cannot be read: {first_line}",
                expected="a Parquet file",
                next_step="remove the bundle and measure again",
            ) from error

    def _verify_table(self, name: str) -> int:
        verify_file(self, name)
        return count_rows(self.path / name, self.record.files[name].bytes)

    @cached_property
    def _times(self) -> TimeRange:
        phases = self.record.execution.phases
        if not phases:
            return TimeRange()
        return TimeRange(max(0, phases[0].begin_ns - DAY_NS), phases[-1].end_ns + DAY_NS)

    @cached_property
    def _rows(self) -> Once[str, int]:
        """Rows of the tables whose checksum and form were found good; threads wait for one."""
        return Once()


def open_bundle(path: Path) -> Bundle:
    """Return the bundle in a folder, its record checked and its files there with their sizes.

    Checksums of tables are verified when a table is read; ``verify_bundle`` does all at once.
    Raises BundleError for anything that is not a whole bundle of a version known here. Files that
    the record does not name are not looked at.
    """
    _need_unicode(path)
    record = parse_record(_read_small(path, RECORD, MOST_RECORD_BYTES), path.name)
    said: LeftOut | None = None
    if os.path.lexists(path / LEFT_OUT):
        data = _read_small(path, LEFT_OUT, MOST_RECORD_BYTES)
        said = parse_left_out(data, path.name, record)
        record = record.model_copy(update={"files": {**record.files, **said.instead}})
    left_out = said.files if said is not None else ()
    for name, file in record.files.items():
        found = plain_size(path, name)
        if name in left_out:
            if found is not None:
                raise damaged(path.name, f"{name}, which {LEFT_OUT} says is not there")
            continue
        if file.bytes > MOST_BYTES[Path(name).suffix]:
            raise damaged(path.name, f"{name} of {file.bytes} bytes, which is too long to read")
        if found is None:
            raise damaged(path.name, f"no file {name}")
        if found != file.bytes:
            raise damaged(path.name, f"{name} of {found} bytes, not {file.bytes}")
    if left_out:
        there = {name: file for name, file in record.files.items() if name not in left_out}
        record = record.model_copy(update={"files": there})
    return Bundle(path, record, left_out, said.instead if said is not None else {})


def _need_unicode(path: Path) -> None:
    """Raise BundleError for a place that cannot be written in UTF-8: no table opens there."""
    try:
        str(path.absolute()).encode()
    except UnicodeEncodeError as error:
        name = path.name.encode(errors="surrogateescape").decode(errors="backslashreplace")
        raise BundleError(
            found=f"bundle {name} in a folder whose name or place is not UTF-8",
            expected="names in UTF-8, by which tables can be opened",
            next_step="rename the folder: mv",
        ) from error


def verify_file(bundle: Bundle, name: str) -> None:
    """Raise BundleError unless the file's checksum is the recorded one."""
    note_use(bundle.sha256)
    try:
        with os.fdopen(open_plain(bundle.path / name), "rb") as source:
            found = hashlib.file_digest(source, "sha256").hexdigest()
    except OSError as error:
        raise damaged(bundle.id, f"no readable {name} ({error.strerror})") from error
    if found != bundle.record.files[name].sha256:
        raise damaged(bundle.id, f"{name} whose checksum is not the recorded one")


def verify_bundle(bundle: Bundle) -> None:
    """Raise BundleError unless every file's checksum is the recorded one."""
    for name in bundle.record.files:
        verify_file(bundle, name)


def _read_small(folder: Path, name: str, most_bytes: int) -> bytes:
    try:
        return read_plain(folder / name, most_bytes)
    except OSError as error:
        raise damaged(folder.name, f"no readable {name} ({error.strerror})") from error


def find_bundles(folder: Path) -> Iterator[Path]:
    """Yield the bundle folders at or below ``folder``, oldest name first; partial ones never.

    Links to folders below it are not followed. Raises BundleError for a folder that cannot be read.
    """
    waiting = [(folder, 0)]
    while waiting:
        here, depth = waiting.pop()
        try:
            if os.path.lexists(here / RECORD):
                yield here
            elif depth < _MOST_DEPTH and here.is_dir():
                inner = [p for p in here.iterdir() if not p.name.startswith(".")]
                folders = [p for p in inner if p.is_dir() and not p.is_symlink()]
                waiting += [(p, depth + 1) for p in sorted(folders, reverse=True)]
        except OSError as error:
            raise damaged(here.name, f"no readable contents ({error.strerror})") from error


def newest_of(bundles: Iterable[Bundle], key: Callable[[Bundle], object]) -> list[Bundle]:
    """Return the latest bundle of each key; completed ones win over failed ones."""
    newest: dict[object, Bundle] = {}
    for bundle in bundles:
        known = newest.get(key(bundle))
        if known is None or _rank(bundle) >= _rank(known):
            newest[key(bundle)] = bundle
    return list(newest.values())


def _rank(bundle: Bundle) -> tuple[bool, str]:
    return bundle.record.outcome == "completed", bundle.record.execution.started_utc
