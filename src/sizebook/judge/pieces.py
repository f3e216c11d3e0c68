"""Files that may be large, broken or hostile, read in pieces of bounded size."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from sizebook.judge.refusals import refused
from sizebook.store.plain_files import need_plain, open_plain

HEAD_BYTES = 1 << 16
PIECE_BYTES = 1 << 24
MOST_BYTES = 1 << 33
MOST_DOCUMENT_BYTES = 1 << 26
"""Of a JSON document or a text that is read as a whole; reports have some kilobytes."""


def open_results(path: Path) -> int:
    """Return the size of a plain file that may be read; raise UsageError for anything else."""
    need_plain(path, "results of a load tool")
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise refused(path, f"{size:,} bytes", "cut the file into parts of some gigabytes")
    return size


def read_head(path: Path) -> bytes:
    """Return the first bytes of a file, without the mark that some editors put before UTF-8."""
    with _opened(path) as source:
        return source.read(HEAD_BYTES).removeprefix(b"\xef\xbb\xbf")


def read_tail(path: Path, most: int = 4096) -> bytes:
    """Return the last bytes of a file."""
    with _opened(path) as source:
        size = source.seek(0, os.SEEK_END)
        source.seek(max(0, size - most))
        return source.read(most)


def read_document(path: Path) -> bytes:
    """Return a whole small file; raise UsageError for a large one."""
    with _opened(path) as source:
        data = source.read(MOST_DOCUMENT_BYTES + 1)
    if len(data) > MOST_DOCUMENT_BYTES:
        raise refused(
            path, f"one document of more than {MOST_DOCUMENT_BYTES >> 20} MiB", "name a report"
        )
    return data.removeprefix(b"\xef\xbb\xbf")


def read_pieces(path: Path) -> Iterator[bytes]:
    """Yield a file in pieces of whole lines; a line longer than a piece is a UsageError."""
    left = b""
    with _opened(path) as source:
        while piece := source.read(PIECE_BYTES):
            lines, newline, rest = (left + piece).rpartition(b"\n")
            if newline:
                yield lines + newline
            left = rest
            if len(left) > PIECE_BYTES:
                raise refused(path, "a line of more than 16 MiB", "name a file of results")
    if left:
        yield left


def read_json_lines(
    path: Path, schema: dict[str, Any], skipped: re.Pattern[bytes] | None = None
) -> Iterator[tuple[pl.DataFrame, int]]:
    """Yield frames of JSON objects, one a line, and how many lines of each cannot be read.

    Lines that begin as ``skipped`` says are passed over unread: nobody needs them.
    """
    for whole in read_pieces(path):
        piece = whole
        if skipped is not None and _is_mostly(skipped, whole):
            kept = [line for line in whole.split(b"\n") if not skipped.match(line)]
            piece = b"\n".join(kept)
        left_out = 0
        try:
            frame = pl.read_ndjson(piece, schema=schema)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            good, left_out = _good_lines(piece, schema)
            frame = pl.read_ndjson(good, schema=schema) if good else pl.DataFrame(schema=schema)
        yield frame, left_out


def _is_mostly(skipped: re.Pattern[bytes], piece: bytes) -> bool:
    """Return whether so many lines are skipped that looking at each is less work than reading it.

    The first lines of a piece stand for all.
    """
    first = piece[:HEAD_BYTES].split(b"\n")
    return sum(skipped.match(line) is not None for line in first) > len(first) / 3


def _good_lines(piece: bytes, schema: dict[str, Any]) -> tuple[bytes, int]:
    """Return the lines that hold an object of the schema's types, and the number of others."""
    good, left_out = [], 0
    for line in piece.split(b"\n"):
        if not line.strip():
            continue
        try:
            told = _fitting(json.loads(line), pl.Struct(schema))
            good.append(json.dumps(told).encode())
        except (ValueError, RecursionError):
            left_out += 1
    return b"\n".join(good), left_out


def _fitting(value: Any, kind: Any) -> Any:
    """Return a value in so far as it has the type; ValueError for one of another type."""
    if value is None:
        return None
    if isinstance(kind, pl.Struct):
        if not isinstance(value, dict):
            raise ValueError("not an object")
        return {each.name: _fitting(value.get(each.name), each.dtype) for each in kind.fields}
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind == pl.String:
        if not isinstance(value, str):
            raise ValueError("not a text")
        return value.encode("utf-8", errors="replace").decode()
    if not is_number or not abs(value) < 2**63 or (kind == pl.Int64 and value != int(value)):
        raise ValueError("not a number of its kind")
    return int(value) if kind == pl.Int64 else float(value)


def _opened(path: Path) -> BinaryIO:
    try:
        return os.fdopen(open_plain(path, follow=True), "rb")
    except OSError as error:
        words = error.strerror or "it cannot be opened"
        raise refused(path, words, "make it readable, or name another file") from error
