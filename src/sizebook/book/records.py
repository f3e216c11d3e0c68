"""Read what an executed notebook published: one record a figure, table or number."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sizebook.model.errors import UserError
from sizebook.report.showing import METADATA_KEY
from sizebook.store.plain_files import read_plain

MOST_BYTES = 256 * 2**20
"""Of a notebook; own ones with all their outputs stay below a tenth."""


@dataclass(frozen=True)
class PublishedResult:
    """One published result: its metadata record, the bundle that shows it, and its cell.

    ``cell`` is the cell's number among the notebook's code cells, from 1; 0 is not known.
    """

    kind: str
    key: str
    fields: Mapping[str, Any]
    bundle: Mapping[str, Any]
    cell: int = 0
    cell_id: str = ""
    cell_source: str = ""

    @property
    def evidence(self) -> Mapping[str, Any]:
        """The evidence record: chapter, parameters, sources, command, commit, checksum."""
        evidence: Mapping[str, Any] = self.fields["evidence"]
        return evidence

    def text(self, mime_type: str) -> str:
        """Give one representation as text; a notebook may store it as a list of lines."""
        content = self.bundle.get(mime_type, "")
        return "".join(content) if isinstance(content, list) else str(content)


def read_records(notebook: Path) -> dict[str, PublishedResult]:
    """Give the records of an executed notebook by key, prose taken apart into its numbers.

    Raises UserError when two different results have one key, or the file is no notebook.
    """
    return _read_cached(str(notebook), notebook.stat().st_mtime_ns)


_OTHER_FORM = (KeyError, TypeError, AttributeError)
"""What reading JSON of another form than a notebook's raises."""


@functools.lru_cache(maxsize=64)
def _read_cached(path: str, mtime_ns: int) -> dict[str, PublishedResult]:
    del mtime_ns  # a changed file is another cache entry
    try:
        data = read_plain(Path(path), MOST_BYTES, follow=True)
        if len(data) > MOST_BYTES:
            raise ValueError(f"more than {MOST_BYTES:,} bytes")
        return _by_key(json.loads(data)["cells"], Path(path).name)
    except (OSError, ValueError, RecursionError, *_OTHER_FORM) as error:
        raise UserError(
            found=f"{Path(path).name} is not a readable notebook ({error!r:.200})",
            expected="an executed notebook in Jupyter's format",
            next_step="delete it and run its chapter again",
        ) from error


def _by_key(cells: list[dict[str, Any]], name: str) -> dict[str, PublishedResult]:
    """Return the records by key; one of ``_OTHER_FORM`` for cells that are none of a notebook's."""
    records: dict[str, PublishedResult] = {}
    for record in _walk(cells):
        known = records.get(record.key)
        if known and not _same_number(known, record):
            raise UserError(
                found=f"{name} publishes two different results as {record.key!r}",
                expected="each key once in a chapter",
                next_step="give one of them another key in the notebook",
            )
        records.setdefault(record.key, record)
    return records


def _walk(cells: list[dict[str, Any]]) -> Iterator[PublishedResult]:
    codes = (cell for cell in cells if cell.get("cell_type") == "code")
    for number, cell in enumerate(codes, start=1):
        place = number, str(cell.get("id", "")), "".join(cell.get("source", ""))
        for output in cell.get("outputs", []):
            fields = output.get("metadata", {}).get(METADATA_KEY)
            if fields is None:
                continue
            if fields["kind"] != "prose":
                yield PublishedResult(fields["kind"], fields["key"], fields, output["data"], *place)
                continue
            for each in fields["numbers"]:
                shown = {**each, "unit": "", "evidence": fields["evidence"]}
                yield PublishedResult("value", each["key"], shown, {}, *place)


def _same_number(one: PublishedResult, other: PublishedResult) -> bool:
    same_kind = one.kind == other.kind == "value"
    return same_kind and one.fields["value"] == other.fields["value"]
