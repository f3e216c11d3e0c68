"""The checked contents of ``data/reported``: every row is a record or the file is refused.

The check is pydantic's, on the record types of :mod:`sizebook.model.reported`, since those say
what a row may hold wherever a row goes. A frame schema (pandera, patito) would be another
dependency for the same rules, could not read the grammar of treatments without code of ours, and
tells positions in a frame, not lines of a file.
"""

from __future__ import annotations

import csv
import functools
import hashlib
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from pydantic import ValidationError

from sizebook.model.errors import UsageError, UserError
from sizebook.model.reported import Measurement, ReportedClaim, ReportedParameter
from sizebook.report.evidence import EvidenceFile
from sizebook.store import Project, find_project
from sizebook.store.plain_files import read_plain

Row = Measurement | ReportedParameter | ReportedClaim

FOLDER = Path("data") / "reported"
_KINDS: dict[str, type[Row]] = {
    "measurements": Measurement,
    "parameters": ReportedParameter,
    "claims": ReportedClaim,
}
_COLUMNS = {
    "measurements": "source source_file locator scenario treatment metric statistic value unit "
    "note",
    "parameters": "source source_file locator component parameter default used_value unit note",
    "claims": "claim_id source source_file locator scenario statement left right metric relation "
    "reported_ratio reported_basis transferable",
}
_MOST_BYTES = 2**25
_MANY = 3
_SHOWN_LETTERS = 80


@dataclass(frozen=True)
class ReportedTable:
    """One file of ``data/reported``: its rows as records and as a frame, and its checksum."""

    name: str
    rows: tuple[Row, ...]
    frame: pl.DataFrame
    file: EvidenceFile


def read_reported(table: str, project: Project | None = None) -> ReportedTable:
    """Return ``measurements``, ``parameters`` or ``claims``, checked once in this process.

    Raises UsageError for another name, UserError with file, row and column for a file that is
    missing, unreadable or breaks the schema.
    """
    if table not in _KINDS:
        raise UsageError(
            found=f"reported table {table!r}",
            expected=f"one of {', '.join(_KINDS)}",
            next_step="see data/reported/README.md",
        )
    path = (project or find_project()).root / FOLDER / f"{table}.csv"
    try:
        about = path.stat()
    except OSError as error:
        raise _refused(table, f"cannot be read ({error.strerror})", "a file") from error
    return _read_checked(table, path, about.st_mtime_ns, about.st_size)


def evidence_files(*tables: str, project: Project | None = None) -> tuple[EvidenceFile, ...]:
    """Return names and checksums of reported tables, all three without a name: for evidence."""
    return tuple(read_reported(table, project).file for table in tables or _KINDS)


@functools.lru_cache(maxsize=12)
def _read_checked(table: str, path: Path, mtime_ns: int, size: int) -> ReportedTable:
    del mtime_ns, size  # a changed file is another cache entry
    try:
        content = read_plain(path, _MOST_BYTES, follow=True)
    except OSError as error:
        raise _refused(table, f"cannot be read ({error.strerror})", "a file") from error
    if len(content) > _MOST_BYTES:
        raise _refused(table, f"has more than {_MOST_BYTES:,} bytes", "a table of a report")
    rows = tuple(_check_rows(table, content))
    texts = [row.model_dump() for row in rows]
    schema = {
        name: pl.Float64 if name in ("value", "reported_ratio") else pl.String
        for name in _COLUMNS[table].split()
    }
    return ReportedTable(
        name=table,
        rows=rows,
        frame=pl.DataFrame(texts, schema=schema),
        file=EvidenceFile((FOLDER / path.name).as_posix(), hashlib.sha256(content).hexdigest()),
    )


def _check_rows(table: str, content: bytes) -> list[Row]:
    kind, columns = _KINDS[table], _COLUMNS[table].split()
    rows: list[Row] = []
    problems: list[tuple[str, str]] = []
    for number, line, texts in _split_rows(table, content, columns):
        where = f"row {number} (line {line})"
        if len(texts) != len(columns):
            wanted = f"{len(columns)} fields in each row"
            problems.append((f"{where} with {len(texts)} fields", wanted))
            continue
        try:
            given = dict(zip(columns, (text or None for text in texts), strict=True))
            rows.append(kind.model_validate(given))
        except ValidationError as error:
            problems += _explain(where, error)
    if not problems:
        problems = [*_repeated(rows), *_renamed(rows)]
    if not rows and not problems:
        problems = [("no row", "rows below the header")]
    if problems:
        found, expected = (_joined(each) for each in zip(*problems, strict=True))
        raise _refused(table, found, expected)
    return rows


def _split_rows(
    table: str, content: bytes, columns: Sequence[str]
) -> Iterator[tuple[int, int, list[str]]]:
    """Yield number, line and fields of each row below the header, which must be exact."""
    try:
        reader = csv.reader(io.StringIO(content.decode(), newline=""), strict=True)
        header = next(reader, [])
        if header != list(columns):
            there = f"columns {', '.join(header)}" if header else "no columns"
            raise _refused(table, there, f"columns {', '.join(columns)}")
        line = reader.line_num
        for number, fields in enumerate(reader, start=1):
            yield number, line + 1, fields
            line = reader.line_num
    except UnicodeDecodeError as error:
        raise _refused(table, f"byte {error.start} is no UTF-8", "text in UTF-8") from error
    except csv.Error as error:
        raise _refused(table, f"no CSV ({error})", "fields with commas in double quotes") from error


def _explain(where: str, error: ValidationError) -> Iterator[tuple[str, str]]:
    for each in error.errors():
        column = str(each["loc"][0]) if each["loc"] else "relation and sides"
        given = each["input"]
        shown = f" {str(given)[:_SHOWN_LETTERS]!r}" if isinstance(given, str) else ""
        shown = " empty" if given is None else shown
        wanted = each["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
        yield f"{where}, column {column}{shown}", wanted


def _repeated(rows: Sequence[Row]) -> Iterator[tuple[str, str]]:
    counts = Counter(row.identity for row in rows)
    for number, row in enumerate(rows, start=1):
        if counts[row.identity] > 1:
            words = ", ".join(filter(None, row.identity))
            yield f"row {number}, a repeated {words[:_SHOWN_LETTERS]!r}", "each of them once"


def _renamed(rows: Sequence[Row]) -> Iterator[tuple[str, str]]:
    """Tell the rows in which a source names another file than in its first row."""
    files: dict[str, str] = {}
    for number, row in enumerate(rows, start=1):
        first = files.setdefault(row.source, row.source_file)
        if row.source_file != first:
            yield f"row {number}, column source_file {row.source_file!r}", f"{first} as before"


def _joined(parts: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(parts))
    more = len(distinct) - _MANY
    return "; ".join(distinct[:_MANY]) + (f"; and {more} more" if more > 0 else "")


def _refused(table: str, found: str, expected: str) -> UserError:
    return UserError(
        found=f"{(FOLDER / table).as_posix()}.csv: {found}",
        expected=expected,
        next_step="mend the rows (data/reported/README.md says what the columns hold), or get the "
        "file back as it was published",
    )
