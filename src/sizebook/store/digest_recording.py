"""Rehearsals: while one is on, what is derived from rows that will be left out is written down.

A page is executed on whole bundles, and each function marked with ``store.derived`` that looked at
rows leaves its answer in a folder, by the bundle's checksum. The innermost function counts: what is
made of its answer alone can be made again from the digest.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = "SIZEBOOK_REHEARSAL"
"""Environment variable with the folder of a rehearsal: notebooks run in processes of their own."""


@dataclass
class Watch:
    """Whether rows were looked at since a function was entered."""

    touched: bool = False


class _Frames(threading.local):
    def __init__(self) -> None:
        self.watches: list[Watch] = []


_FRAMES = _Frames()
_WRITING = threading.Lock()


def touch() -> None:
    """Note that rows of a bundle are looked at, which a published one leaves out."""
    if _FRAMES.watches:
        _FRAMES.watches[-1].touched = True


def is_on() -> bool:
    """Return whether answers are to be written down."""
    return bool(os.environ.get(FOLDER))


@contextlib.contextmanager
def watched() -> Iterator[Watch]:
    """Give a watch that is set when rows are looked at within, other than by inner watches."""
    watch = Watch()
    _FRAMES.watches.append(watch)
    try:
        yield watch
    finally:
        _FRAMES.watches.pop()


def note_use(sha256: str) -> None:
    """Note that a file of the bundle with this checksum was read."""
    if is_on():
        (Path(os.environ[FOLDER]) / f"{sha256}.used").touch()


def used(folder: Path) -> set[str]:
    """Return the checksums of the bundles of which a rehearsal read more than the record."""
    return {path.stem for path in folder.glob("*.used")}


def note(sha256: str, question: str, answer: Any) -> None:
    """Write an encoded answer down for the bundle with this checksum."""
    line = json.dumps([question, answer]) + "\n"
    with _WRITING, (Path(os.environ[FOLDER]) / f"{sha256}.jsonl").open("a") as file:
        file.write(line)


@contextlib.contextmanager
def rehearsing(folder: Path) -> Iterator[None]:
    """Have answers written into a folder while this context lasts, also by processes started."""
    folder.mkdir(parents=True, exist_ok=True)
    before = os.environ.get(FOLDER)
    os.environ[FOLDER] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ[FOLDER]
        else:
            os.environ[FOLDER] = before


def noted(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the answers of a rehearsal: bundle's checksum to question to encoded answer."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.glob("*.jsonl")):
        lines = path.read_text(encoding="utf-8").splitlines()
        found[path.stem] = dict(json.loads(line) for line in lines)
    return found
