"""The file of an executed notebook: the template's, and nothing but what executing it adds.

A page shows more than its outputs. Metadata of a cell hide it or its code, attachments are
pictures, the notebook's metadata choose the colours of its code and options of the site.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sizebook.book.audit.contents import WrongResult, first_difference
from sizebook.book.audit.outputs import Output, read_notebook, source_of, tags_of
from sizebook.book.chapters import Chapter
from sizebook.book.notebooks import INJECTED, SO_FAR, STAMP, hash_cells
from sizebook.report.chart import MIME
from sizebook.report.showing import METADATA_KEY

_TEXT = "text/plain"
_SHOWN_AS = {
    "figure": {MIME, "image/svg+xml", _TEXT},
    "table": {"text/html", _TEXT},
    "calculator": {"text/html", _TEXT},
    "claim": {"text/html", _TEXT},
    "prose": {"text/markdown", _TEXT},
    "value": {_TEXT},
}
"""Representations of each kind of result."""
_LANGUAGE = {
    "codemirror_mode": {"name": "ipython", "version": 3},
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "nbconvert_exporter": "python",
    "pygments_lexer": "ipython3",
}
"""What a kernel of Python says of its language, without its version."""
_VERSION = re.compile(r"3(\.\d{1,3}){1,2}[a-z0-9.+]{0,12}")
_STAMPED = {"stamp", "template", "template_sha256", "parameters", "commit", "harness", SO_FAR}
_CODE = {"cell_type", "id", "metadata", "source", "outputs", "execution_count"}
_INJECTED_METADATA = {"tags": [INJECTED, "hide-input"]}
_SHORT = 60
_PARAMETERS = "parameters"
_NOT_EXECUTED = "skip-execution"

Cell = Mapping[str, Any]
Place = tuple[str, WrongResult]
"""Where in the notebook, after its name, and what is wrong there."""


def check_file(document: Mapping[str, Any], chapter: Chapter) -> Iterator[Place]:
    """Yield what stands in a page's file that executing its template does not put there.

    Text and tags of cells are the business of ``pages``.
    """
    template = read_notebook(chapter.notebook)
    yield from _notebook(document, template)
    cells: Sequence[Cell] = document["cells"]
    own = [(number, cell) for number, cell in enumerate(cells, start=1) if not _is_injected(cell)]
    if hash_cells(cells) == hash_cells(template["cells"]):
        for (number, cell), made in zip(own, template["cells"], strict=True):
            for words in _cell(cell, made):
                yield f" cell {number}", words
    yield from _injected(cells)
    yield from _counts(cells)


def check_form(output: Output) -> Iterator[WrongResult]:
    """Yield what is wrong with how a result with a record is stored."""
    if output.type != "display_data":
        yield _wrong("AU216-output", "it is stored as", output.type, "display_data")
    names = {"output_type", "metadata", "data"}
    if set(output.raw) != names:
        yield _wrong("AU216-output", "it has the fields", _list(output.raw), _list(names))
    metadata = output.raw.get("metadata", {})
    if set(metadata) != {METADATA_KEY}:
        yield _wrong("AU216-output", "its metadata have", _list(metadata), METADATA_KEY)
    shown_as = _SHOWN_AS.get(output.kind)
    if shown_as is not None and set(output.data) != shown_as:
        yield _wrong("AU216-output", "it is shown as", _list(output.data), _list(shown_as))


def _notebook(document: Mapping[str, Any], template: Mapping[str, Any]) -> Iterator[Place]:
    names = {"cells", "metadata", "nbformat", "nbformat_minor"}
    if set(document) != names:
        yield "", _wrong("AU215-file", "the notebook has", _list(document), _list(names))
    version, made = ([each.get(n) for n in ("nbformat", "nbformat_minor")] for each in
                     (document, template))  # fmt: skip
    if version not in (made, [4, 5]):
        yield "", _wrong("AU215-file", "the notebook's format is", version, made)
    shown, expected = dict(document["metadata"]), dict(template["metadata"])
    run = shown.pop(STAMP, None)
    if isinstance(run, dict) and set(run) - _STAMPED:  # what it lacks, others name
        yield "", _wrong("AU215-file", f"{STAMP} has", _list(run), _list(_STAMPED))
    language = shown.pop("language_info", _LANGUAGE)
    expected.pop("language_info", None)
    if not _is_language(language):
        yield "", _wrong("AU215-file", "language_info is", language, _LANGUAGE)
    kernel = shown.pop("kernelspec", None)
    if kernel not in (expected.pop("kernelspec", None), _KERNEL):
        yield "", _wrong("AU215-file", "kernelspec is", kernel, _KERNEL)
    if shown != expected:
        yield "", _wrong("AU215-file", "the notebook's metadata are", shown, expected)


_KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def _is_language(language: Any) -> bool:
    if not isinstance(language, dict):
        return False
    version = language.get("version", "3.0")
    rest = {name: each for name, each in language.items() if name != "version"}
    return rest == _LANGUAGE and isinstance(version, str) and bool(_VERSION.fullmatch(version))


def _cell(cell: Cell, made: Cell) -> Iterator[WrongResult]:
    code = cell["cell_type"] == "code"
    names = (_CODE if code else _CODE - {"outputs", "execution_count"}) | ({*made} - _CODE)
    found = {*cell, "id"}
    if found != names:
        yield _wrong("AU215-file", "the cell has", _list(found), _list(names))
    if "id" in made and cell.get("id") != made["id"]:
        yield _wrong("AU215-file", "the cell's id is", cell.get("id"), made["id"])
    shown, expected = (
        {name: value for name, value in each["metadata"].items() if name != "tags"}
        for each in (cell, made)
    )
    if shown != expected:
        yield _wrong("AU215-file", "the cell's metadata are", shown, expected)
    for name in sorted({*made} - _CODE):
        if cell.get(name) != made[name]:
            yield _wrong("AU215-file", f"the cell's {name} are", cell.get(name), made[name])


def _injected(cells: Sequence[Cell]) -> Iterator[Place]:
    """Yield what is wrong with the cell of a run's parameters: it follows the template's."""
    for number, cell in enumerate(cells, start=1):
        if not _is_injected(cell):
            continue
        before = cells[number - 2] if number > 1 else None
        if before is None or _PARAMETERS not in tags_of(before):
            expected = f"behind the cell tagged {_PARAMETERS}"
            yield f" cell {number}", _wrong("AU215-file", "parameters", "elsewhere", expected)
        if cell["metadata"] != _INJECTED_METADATA:
            yield (
                f" cell {number}",
                _wrong(
                    "AU215-file", "the cell's metadata are", cell["metadata"], _INJECTED_METADATA
                ),
            )
        if set(cell) != _CODE or cell.get("id") != INJECTED:
            yield f" cell {number}", _wrong("AU215-file", "the cell has", _list(cell), _list(_CODE))


def _counts(cells: Sequence[Cell]) -> Iterator[Place]:
    """Yield the first cell that was not executed in its turn, once, by a fresh kernel."""
    code = [(n, cell) for n, cell in enumerate(cells, start=1) if cell["cell_type"] == "code"]
    turns = (
        turn
        for turn in code
        if source_of(turn[1]).strip() and _NOT_EXECUTED not in tags_of(turn[1])
    )
    due = {number: turn for turn, (number, _) in enumerate(turns, start=1)}
    for number, cell in code:
        count, expected = cell.get("execution_count"), due.get(number)
        if count != expected or isinstance(count, bool):
            yield f" cell {number}", _wrong("AU215-file", "its execution count is", count, expected)
            return


def _is_injected(cell: Cell) -> bool:
    return INJECTED in tags_of(cell)


def _wrong(rule: str, what: str, found: Any, expected: Any) -> WrongResult:
    one, other = str(found), str(expected)
    first, second = (
        first_difference(one, other) if max(map(len, (one, other))) > 60 else (one, other)
    )
    return WrongResult(rule, f"{what} {first}, not {second}", one[:200], other[:200])


def _list(names: Any) -> str:
    return ", ".join(sorted(map(str, names))) or "nothing"
