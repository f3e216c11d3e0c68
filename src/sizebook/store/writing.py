"""Bundles are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from sizebook.model.bundle import BundleRecord, FileRecord
from sizebook.model.errors import TrialError
from sizebook.store.bundles import Bundle
from sizebook.store.fingerprints import fingerprint_file
from sizebook.store.partial import PARTIAL
from sizebook.store.record_file import RECORD, parse_record


class BundleWriter:
    """A bundle in the making: files go to a hidden folder that is renamed when complete.

    Use as a context manager; leaving it without ``commit`` removes everything written.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._final = folder / name
        self.path = folder / f"{PARTIAL}{os.getpid()}-{secrets.token_hex(4)}"
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
            text = record.model_dump_json(indent=1) + "\n"
            parse_record(text.encode(), self._final.name)
            (self.path / RECORD).write_text(text, encoding="utf-8")
            for path in self.path.rglob("*"):
                _sync(path)
            _sync(self.path)
            self.path.rename(self._final)
            _sync(self._final.parent)
        self._committed = True
        return Bundle(self._final, record)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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
