"""What a figure or table shows, as rows of plain text: the data that a reader can download."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?[0-9][0-9,]*(\.[0-9]+)?([eE][+-]?[0-9]+)?( ?%)?")
Rows = list[list[str]]
"""Rows of cells; the first row names the columns."""

_TITLE_ROW = "gt_heading"
_GROUP_ROW = "gt_group_heading_row"
_GROUP_COLUMN = "group"


def find_datasets(spec: Mapping[str, Any]) -> list[list[Any]]:
    """Give the rows that a Vega-Lite specification draws, one list a data set, in its order.

    They are the rows as the chart gets them, before its own filters and calculations. Data that
    are not in the specification itself (an address, a generator) are left out.
    """
    named = spec.get("datasets", {})
    found: dict[str, list[Any]] = {}
    for data in _walk_data(spec):
        values = named.get(data["name"]) if "name" in data else data.get("values")
        if isinstance(values, list):
            found.setdefault(json.dumps(values), values)
    return list(found.values())


def make_rows(records: Sequence[Any]) -> Rows:
    """Give the rows of a data set, columns in the order in which they first appear."""
    rows = [each if isinstance(each, dict) else {"data": each} for each in records]
    names = list(dict.fromkeys(name for row in rows for name in row))
    return [names, *([_cell(row.get(name)) for name in names] for row in rows)]


def read_table(html: str) -> Rows:
    """Give the cells of a Great Tables table as they are shown; ``html`` is what it printed.

    A column below a spanner is named ``spanner / column``; a table in groups has their names in a
    first column. Title and notes are left out: the caption says them.
    """
    parser = _TableParser()
    parser.feed(html)
    parser.close()
    grid = _spread([row for row in parser.rows if row.part == "thead"])
    heads = [" / ".join(dict.fromkeys(filter(None, names))) for names in zip(*grid, strict=True)]
    cells, grouped = _body(parser)
    return [[_GROUP_COLUMN, *heads] if grouped else heads, *cells]


def read_columns(html: str, key: str) -> tuple[list[str], Rows]:
    """Give the names of the columns in the frame that a table shows, and the table's rows.

    ``key`` is the table's; Great Tables puts it and the name into the column's id. Where a table
    is in groups, the first column is ``group``.
    """
    parser = _TableParser()
    parser.feed(html)
    parser.close()
    ids = _spread([row for row in parser.rows if row.part == "thead"], lambda cell: cell.id)
    names = [name.removeprefix(f"gt-{key}-") for name in ids[-1]] if ids else []
    cells, grouped = _body(parser)
    return ([_GROUP_COLUMN, *names] if grouped else names), cells


def _body(parser: _TableParser) -> tuple[Rows, bool]:
    """Give the rows of a table's body, and whether their first column names groups."""
    body = [row for row in parser.rows if row.part == "tbody"]
    groups, group = [], ""
    for row in body:
        if row.kind == _GROUP_ROW:
            group = "".join(cell.text for cell in row.cells)
        else:
            groups.append(group)
    cells = _spread([row for row in body if row.kind != _GROUP_ROW])
    if any(groups):
        cells = [[name, *row] for name, row in zip(groups, cells, strict=True)]
    return cells, any(groups)


def write_csv(rows: Iterable[Sequence[str]]) -> str:
    """Give rows as CSV (RFC 4180, but with plain line feeds) in which no cell is a formula.

    A spreadsheet computes what begins like one (https://owasp.org/www-community/attacks/CSV_Injection);
    an apostrophe before it makes it text. Numbers stay as they are. ``read_cell`` takes it away.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([_inert(cell) for cell in row] for row in rows)
    return text.getvalue()


def read_cell(text: str) -> str:
    """Give back what ``write_csv`` was given for a cell."""
    return text[1:] if text[:1] == "'" and _FORMULA.match(text[1:]) else text


def _inert(cell: str) -> str:
    danger = _FORMULA.match(cell) and not _NUMBER.fullmatch(cell)
    cell = cell.replace("\r\n", "\n").replace("\r", "\n")  # csv puts no quotes around a lone CR
    return f"'{cell}" if danger else cell


def _walk_data(part: Any) -> Iterator[dict[str, Any]]:
    """Yield every ``data`` of a specification; what lies inside data sets is not looked at."""
    if isinstance(part, list):
        for each in part:
            yield from _walk_data(each)
    elif isinstance(part, dict):
        for name, each in part.items():
            if name == "data" and isinstance(each, dict):
                yield each
            elif name not in ("datasets", "values"):
                yield from _walk_data(each)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@dataclass
class _Cell:
    columns: int
    rows: int
    id: str = ""
    text: str = ""


@dataclass
class _Row:
    part: str
    kind: str
    cells: list[_Cell] = field(default_factory=list)


class _TableParser(HTMLParser):
    """Collects rows and cells; spaces are joined as a browser does."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[_Row] = []
        self._part = ""
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        about = dict(attrs)
        if tag in ("thead", "tbody", "tfoot"):
            self._part = tag
        elif tag == "tr":
            kind = (about.get("class") or "").split(" ")[0]
            self.rows.append(_Row("title" if kind == _TITLE_ROW else self._part, kind))
        elif tag in ("td", "th") and self.rows:
            spans = _span(about.get("colspan")), _span(about.get("rowspan"))
            self.rows[-1].cells.append(_Cell(*spans, about.get("id") or ""))
            self._inside = True
        elif tag == "br":
            self.handle_data(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            cell = self.rows[-1].cells[-1]
            cell.text = " ".join((cell.text + data).split(" "))

    def close(self) -> None:
        super().close()
        for row in self.rows:
            for cell in row.cells:
                cell.text = " ".join(cell.text.split())


def _span(text: str | None) -> int:
    """Give how many columns or rows a cell covers; a senseless number counts as one."""
    return int(text) if text and text.isascii() and text.isdigit() and 0 < int(text) < 1000 else 1


def _spread(rows: Sequence[_Row], of: Callable[[_Cell], str] = lambda cell: cell.text) -> Rows:
    """Give the grid of a table: a cell that covers several columns or rows stands in each."""
    grid: list[dict[int, str]] = [{} for _ in rows]
    for line, row in enumerate(rows):
        column = 0
        for cell in row.cells:
            while column in grid[line]:
                column += 1
            for below in grid[line : line + cell.rows]:
                below |= {column + step: of(cell) for step in range(cell.columns)}
    width = max((max(line, default=-1) + 1 for line in grid), default=0)
    return [[line.get(column, "") for column in range(width)] for line in grid]
