"""Bundles: written whole or not at all, read only when every checksum holds."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl
import psutil
from pydantic import ValidationError

from sizebook.model.bundle import BUNDLE_FORMAT, BUNDLE_VERSION, BundleRecord, FileRecord
from sizebook.model.errors import BundleError, TrialError
from sizebook.store.columns import ColumnStore, RequestColumns
from sizebook.store.fingerprints import fingerprint_file

RECORD = "trial.json"
REQUESTS = "requests.parquet"
COUNTERS = "counters.parquet"
HISTOGRAMS = "latency.hlog"
SCHEDULE = "schedule.parquet"
_PARTIAL = ".partial-"
_MAX_RECORD_BYTES = 4 * 2**20


@dataclass(frozen=True)
class Bundle:
    """One finished trial on disk. Tables are read when first asked for, then kept."""

    path: Path
    record: BundleRecord

    @property
    def id(self) -> str:
        """Short name that is unique within a project."""
        return self.path.name

    @cached_property
    def sha256(self) -> str:
        """Checksum of ``trial.json``, which holds the checksums of all other files."""
        return fingerprint_file(self.path / RECORD)

    @cached_property
    def requests(self) -> pl.DataFrame:
        """One row a request, columns as in ``model.bundle.REQUEST_COLUMNS``.

        Raises BundleError if the bundle came without its requests (published ones do).
        """
        return self._table(REQUESTS)

    @cached_property
    def columns(self) -> RequestColumns:
        """The same requests by column, each read when first asked for: for sums over millions.

        Raises BundleError if the bundle came without its requests, or the file is damaged.
        """
        height = self._read(REQUESTS, lambda path: pl.scan_parquet(path).select(pl.len()).collect())
        return RequestColumns(ColumnStore(self._request_column), slice(0, height.item()))

    @cached_property
    def counters(self) -> pl.DataFrame:
        """One row a reading, columns as in ``model.bundle.COUNTER_COLUMNS``."""
        return self._table(COUNTERS)

    @cached_property
    def schedule(self) -> pl.DataFrame:
        """Due times of an open load: ``offset_ns`` from the begin of the first phase, ascending.

        Raises BundleError if there is none: closed loops have no schedule.
        """
        return self._table(SCHEDULE)

    @cached_property
    def measured(self) -> pl.DataFrame:
        """The requests of the measured phase."""
        return self.requests.filter(pl.col("phase") == "measured")

    def _table(self, name: str) -> pl.DataFrame:
        return self._read(name, pl.read_parquet)

    def _request_column(self, column: str) -> pl.Series:
        frame = self._read(REQUESTS, lambda path: pl.read_parquet(path, columns=[column]))
        return frame.to_series()

    def _read(self, name: str, read: Callable[[Path], pl.DataFrame]) -> pl.DataFrame:
        if name not in self.record.files:
            raise BundleError(
                found=f"bundle {self.id} without {name}",
                expected="a bundle with it",
                next_step="measure the trial on this machine; published bundles are slimmed",
            )
        if name not in self._verified:
            verify_file(self, name)
            self._verified.add(name)
        try:
            return read(self.path / name)
        except (pl.exceptions.PolarsError, OSError) as error:
            raise BundleError(
                found=f"{name} of bundle {self.id} cannot be read: {error}",
                expected="a Parquet file",
                next_step="remove the bundle and measure again",
            ) from error

    @cached_property
    def _verified(self) -> set[str]:
        """Files whose checksum was found to be the recorded one."""
        return set()


class BundleWriter:
    """A bundle in the making: files go to a hidden folder that is renamed when complete.

    Use as a context manager; leaving it without ``commit`` removes everything written.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._final = folder / name
        self.path = folder / f"{_PARTIAL}{os.getpid()}-{secrets.token_hex(4)}"
        self._committed = False

    def __enter__(self) -> BundleWriter:
        with _disk_errors(self._final):
            self.path.mkdir(parents=True)
        return self

    def __exit__(self, *_: object) -> None:
        if not self._committed:
            shutil.rmtree(self.path, ignore_errors=True)

    def table(self, name: str, frame: pl.DataFrame) -> None:
        """Write a table as Parquet."""
        with _disk_errors(self._final):
            frame.write_parquet(self.path / name, compression="zstd", statistics=False)

    def commit(self, record: BundleRecord) -> Bundle:
        """Add checksums, write ``trial.json``, make it durable, and give the bundle its name."""
        with _disk_errors(self._final):
            files = {
                path.relative_to(self.path).as_posix(): FileRecord(
                    sha256=fingerprint_file(path), bytes=path.stat().st_size
                )
                for path in sorted(self.path.rglob("*"))
                if path.is_file()
            }
            record = record.model_copy(update={"files": files})
            (self.path / RECORD).write_text(record.model_dump_json(indent=1) + "\n")
            for path in self.path.rglob("*"):
                _sync(path)
            _sync(self.path)
            self.path.rename(self._final)
            _sync(self._final.parent)
        self._committed = True
        return Bundle(self._final, record)


def open_bundle(path: Path) -> Bundle:
    """Return the bundle in a folder, its record checked and its files there with their sizes.

    Checksums of tables are verified when a table is read; ``verify_bundle`` does all at once.
    Raises BundleError for anything that is not a whole bundle of a version known here.
    """
    try:
        if (path / RECORD).stat().st_size > _MAX_RECORD_BYTES:
            raise _damaged(path, f"{RECORD} of more than {_MAX_RECORD_BYTES} bytes")
        text = (path / RECORD).read_text()
    except OSError as error:
        raise _damaged(path, f"no readable {RECORD} ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise _damaged(path, f"{RECORD} that is not UTF-8") from error
    try:
        record = BundleRecord.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise _damaged(path, f"{RECORD} with {first['msg'].lower()} at {where!r}") from error
    if record.format != BUNDLE_FORMAT or record.version != BUNDLE_VERSION:
        raise BundleError(
            found=f"bundle {path.name} of version {record.version}",
            expected=f"version {BUNDLE_VERSION}",
            next_step="use the release of Sizebook that wrote it, or measure again",
        )
    for name, file in record.files.items():
        inside = path / name
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise _damaged(path, f"file name {name!r} that leads out of the bundle")
        if not inside.is_file() or inside.is_symlink():
            raise _damaged(path, f"no file {name}")
        if inside.stat().st_size != file.bytes:
            raise _damaged(path, f"{name} of {inside.stat().st_size} bytes, not {file.bytes}")
    return Bundle(path, record)


def verify_file(bundle: Bundle, name: str) -> None:
    """Raise BundleError unless the file's checksum is the recorded one."""
    if fingerprint_file(bundle.path / name) != bundle.record.files[name].sha256:
        raise _damaged(bundle.path, f"{name} whose checksum is not the recorded one")


def verify_bundle(bundle: Bundle) -> None:
    """Raise BundleError unless every file's checksum is the recorded one."""
    for name in bundle.record.files:
        verify_file(bundle, name)


def find_bundles(folder: Path) -> Iterator[Path]:
    """Yield the bundle folders at or below ``folder``, oldest name first; partial ones never."""
    if (folder / RECORD).is_file():
        yield folder
        return
    if folder.is_dir():
        for path in sorted(folder.iterdir()):
            if path.is_dir() and not path.name.startswith("."):
                yield from find_bundles(path)


def remove_partial(folder: Path) -> int:
    """Remove what killed writers left half-written; return how many folders that were."""
    stale = [p for p in folder.rglob(f"{_PARTIAL}*") if p.is_dir() and not _writer_lives(p)]
    for path in stale:
        shutil.rmtree(path, ignore_errors=True)
    return len(stale)


def newest_by_key(bundles: Iterable[Bundle]) -> dict[str, Bundle]:
    """Return the latest bundle of each cache key; completed ones win over failed ones."""
    newest: dict[str, Bundle] = {}
    for bundle in bundles:
        known = newest.get(bundle.record.key)
        if known is None or _rank(bundle) >= _rank(known):
            newest[bundle.record.key] = bundle
    return newest


def _rank(bundle: Bundle) -> tuple[bool, str]:
    return bundle.record.outcome == "completed", bundle.record.execution.started_utc


def _writer_lives(path: Path) -> bool:
    """Return whether the process that the folder is named after is there and older than it."""
    pid = int(path.name.removeprefix(_PARTIAL).split("-")[0])
    try:
        born = psutil.Process(pid).create_time()
        return pid != os.getpid() and born <= path.stat().st_mtime + 1.0
    except (psutil.NoSuchProcess, OSError):
        return False


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _damaged(path: Path, what: str) -> BundleError:
    return BundleError(
        found=f"bundle {path.name} with {what}",
        expected="a whole bundle as Sizebook writes it",
        next_step="remove the bundle's folder and measure again, or get a fresh copy",
    )


@contextlib.contextmanager
def _disk_errors(target: Path) -> Iterator[None]:
    """Turn a full or read-only disk into a message; the half-written folder is removed."""
    try:
        yield
    except (OSError, pl.exceptions.ComputeError) as error:
        raise TrialError(
            found=f"bundle {target.name} could not be written: {error}",
            expected="a writable disk with room for the bundle",
            next_step="free room (or 'make clean' for caches); finished bundles are intact",
        ) from error
