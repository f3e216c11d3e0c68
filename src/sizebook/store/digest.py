"""Digests: what was derived from rows that a published bundle leaves out, by the question asked.

A question is a function's name with its arguments; its answer is plain JSON, so that reading one
executes nothing. A bundle may have several digests: its own chapter's, and one of each chapter that
borrowed the trial.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sizebook.model.errors import BundleError
from sizebook.store.plain_files import read_plain
from sizebook.store.record_file import damaged

DIGEST = "digest.json"
"""What a trial's own chapter derived; of other chapters it is ``digest-CHAPTER.json``."""
MOST_BYTES = 16 * 2**20
_NAME = re.compile(r"digest(-[a-z0-9]+)*\.json")
_FORMAT = "sizebook-digest"
_VERSION = 1
_KINDS = {
    "Boolean": pl.Boolean,
    "Int8": pl.Int8,
    "Int16": pl.Int16,
    "Int32": pl.Int32,
    "Int64": pl.Int64,
    "UInt8": pl.UInt8,
    "UInt16": pl.UInt16,
    "UInt32": pl.UInt32,
    "UInt64": pl.UInt64,
    "Float32": pl.Float32,
    "Float64": pl.Float64,
    "String": pl.String,
}
_PLAIN_ARRAY = re.compile(r"[<>|=][biuf][0-9]{1,2}")
"""What numpy takes for a type may also be an expression, which it evaluates."""
_NO_ANSWER = (LookupError, TypeError, ArithmeticError, pl.exceptions.PolarsError)
"""What numpy and polars raise for values that are not of the type, or do not fit into it."""


def digest_name(chapter: str, borrower: str) -> str:
    """Return the file that holds what a chapter derived from a trial of ``chapter``."""
    return DIGEST if chapter == borrower else f"digest-{borrower}.json"


def is_digest(name: str) -> bool:
    """Return whether a file of a bundle is one of its digests, by its name."""
    return _NAME.fullmatch(name) is not None


def list_digests(folder: Path) -> list[str]:
    """Return the names of a bundle's digests, its own chapter's first."""
    names = [path.name for path in folder.iterdir() if is_digest(path.name)]
    return sorted(names, key=lambda name: (name != DIGEST, name))


def write_digest(rows: int, answers: Mapping[str, Any]) -> bytes:
    """Return the bytes of a digest: the number of request rows, and encoded answers by question."""
    content = {"format": _FORMAT, "version": _VERSION, "rows": rows, "answers": dict(answers)}
    return (json.dumps(content, sort_keys=True, separators=(",", ":")) + "\n").encode()


def read_digests(folder: Path, bundle: str) -> tuple[int, dict[str, Any]] | None:
    """Return rows and answers of all digests of a bundle, still encoded; None if it has none.

    Raises BundleError for a file of another form.
    """
    parts = [_read(folder / name, bundle) for name in list_digests(folder)]
    if not parts:
        return None
    answers: dict[str, Any] = {}
    for _, some in reversed(parts):
        answers |= some
    return parts[0][0], answers


def encode(value: Any) -> Any:  # noqa: PLR0911 - one return a type
    """Return an answer as JSON: numbers, text, lists, mappings, arrays and frames of these."""
    match value:
        case np.generic():
            return value.item()
        case list():
            return [encode(each) for each in value]
        case tuple():
            return {"tuple": [encode(each) for each in value]}
        case dict():
            return {"dict": [[encode(key), encode(each)] for key, each in value.items()]}
        case np.ndarray():
            return {"array": [value.dtype.str, _steps(value.tolist())]}
        case pl.DataFrame():
            return {
                "frame": [
                    [name, str(kind), _steps(value[name].to_list())]
                    for name, kind in value.schema.items()
                ]
            }
        case None | bool() | int() | float() | str():
            return value
    raise TypeError(f"an answer of type {type(value).__name__} has no form in a digest")


def decode(data: Any) -> Any:
    """Return the answer behind its JSON. Raises ValueError for what ``encode`` never makes."""
    try:
        return _decode(data)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    except _NO_ANSWER as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error


def _decode(data: Any) -> Any:
    match data:
        case {"tuple": list(items)}:
            return tuple(_decode(each) for each in items)
        case {"dict": list(items)}:
            return {_decode(key): _decode(each) for key, each in items}
        case {"array": [str(kind), items]}:
            if _PLAIN_ARRAY.fullmatch(kind) is None:
                raise ValueError(f"an array of {kind[:20]!r}")
            return np.array(_sums(items), dtype=kind)
        case {"frame": list(columns)}:
            return pl.DataFrame(
                {name: pl.Series(name, _sums(items), _KINDS[kind]) for name, kind, items in columns}
            )
        case list():
            return [_decode(each) for each in data]
        case dict():
            raise ValueError(f"an object with {sorted(data)[:3]}")
    return data


def _read(path: Path, bundle: str) -> tuple[int, dict[str, Any]]:
    try:
        data = read_plain(path, MOST_BYTES)
        content = json.loads(data) if len(data) <= MOST_BYTES else {}
        if (content["format"], content["version"]) != (_FORMAT, _VERSION):
            raise ValueError(f"version {str(content['version'])[:20]}")
        rows, answers = content["rows"], content["answers"]
        if not isinstance(rows, int) or rows < 0 or not isinstance(answers, dict):
            raise ValueError("neither rows nor answers")
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise _unknown(path.name, bundle, str(error)) from error
    return rows, answers


def _unknown(name: str, bundle: str, what: str) -> BundleError:
    return damaged(bundle, f"a {name} that is not understood ({what[:100]})")


def _steps(items: Sequence[Any]) -> Any:
    """Return whole numbers as the first and the steps to the next: shorter, and packs better."""
    if len(items) < 2 or not all(type(each) is int for each in items):
        return [encode(each) for each in items]
    return {"steps": [items[0], *_differences(items)]}


def _differences(items: Sequence[int]) -> Iterable[int]:
    return (after - before for before, after in itertools.pairwise(items))


def _sums(data: Any) -> list[Any]:
    if not isinstance(data, dict):
        return [_decode(each) for each in data]
    total, items = 0, []
    for step in data["steps"]:
        total += int(step)
        items.append(total)
    return items
