"""Notebooks that can be read: short cells, and words between them."""

import ast
import itertools
import re
import statistics
from pathlib import Path

import nbformat
import pytest

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))
ANSWER_WORDS = 60
WITHOUT_ANSWER = {"39-virtualization"}
"""It shows what other chapters measured, in the modes that the machine has."""
MOST_LINES, MEDIAN_LINES, MOST_IN_A_ROW = 25, 10, 3
BEYOND = {
    "01-this-machine",
}
"""Notebooks whose code has not moved into their chapters' rooms yet; the list only shrinks."""


def beyond_limits(path: Path) -> list[str]:
    """Return which limits a notebook breaks; blank lines count for none of them."""
    cells = nbformat.read(path, as_version=4).cells
    lines = [
        sum(bool(line.strip()) for line in cell.source.splitlines())
        for cell in cells
        if cell.cell_type == "code"
    ]
    in_a_row = max(
        len(list(group)) if kind == "code" else 0
        for kind, group in itertools.groupby(cell.cell_type for cell in cells)
    )
    told = {
        f"a cell of {max(lines)} lines, more than {MOST_LINES}": max(lines) > MOST_LINES,
        f"a median cell of {statistics.median(lines):g} lines, more than {MEDIAN_LINES}": (
            statistics.median(lines) > MEDIAN_LINES
        ),
        f"{in_a_row} code cells in a row, more than {MOST_IN_A_ROW}": in_a_row > MOST_IN_A_ROW,
    }
    return [words for words, is_beyond in told.items() if is_beyond]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_are_short_and_words_stand_between_them(path):
    """A notebook keeps the limits, or is listed; one that keeps them leaves the list."""
    found = beyond_limits(path)
    if path.stem in BEYOND:
        assert found, f"{path.name} keeps the limits: take it off the list BEYOND"
    else:
        assert found == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_claim_is_not_shown_as_the_value_of_its_cell(path):
    """The record of its outcome would stand on the page; a semicolon, or a name, keeps it off."""
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type != "code" or cell.source.rstrip().endswith(";"):
            continue
        body = ast.parse(cell.source).body
        last = body[-1].value if body and isinstance(body[-1], ast.Expr) else None
        called = ast.unparse(last.func) if isinstance(last, ast.Call) else ""
        assert not called.startswith("page.claim"), f"{path.name}, cell {cell.id}"


def answer_of(source: str) -> str:
    """Return what stands in the answer's box of a first cell; empty without one."""
    box = r"^```\{admonition\} Answer\n:class: sb-answer\n(.*?)\n```$"
    found = re.search(box, source, re.DOTALL | re.MULTILINE)
    return found.group(1) if found else ""


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_chapter_that_measures_begins_with_its_answer(path):
    """At most 60 words, of which numbers are computed on the page, and a rule with its limits."""
    notebook = nbformat.read(path, as_version=4)
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    if "lab.run()" not in code or path.stem in WITHOUT_ANSWER:
        pytest.skip("it measures nothing of its own")
    answer = answer_of(notebook.cells[0].source)
    chapter = notebook.metadata["sizebook"]["id"]
    numbers = re.findall(r"\{val\}`chapters/([\w-]+)#[^`]+`", answer)
    assert numbers and set(numbers) == {chapter}, "numbers of its own"
    assert len(re.sub(r"\{val\}`[^`]+`", "N", answer).split()) <= ANSWER_WORDS
    assert "**Rule.** " in answer
    typed = re.findall(r"(?<![\w-])\d+(?![\w-])", re.sub(r"`[^`]*`", "", answer))
    assert set(typed) <= {"100"}, f"typed numbers: {typed}"


QUOTED = re.compile(r"\{val\}`\s*([^`#]+#[^`:]+)")


def test_a_number_is_quoted_by_a_name_of_its_own():
    """A second value under a name gets a suffix: without the first it would be another number's."""
    pages = [*NOTEBOOKS, *(NOTEBOOKS[0].parents[1] / "book").glob("*.md")]
    quoted = {found.strip() for page in pages for found in QUOTED.findall(page.read_text())}
    assert len(quoted) > 50
    assert [each for each in sorted(quoted) if re.search(r"-\d+$", each)] == []


def test_only_notebooks_are_listed():
    """A notebook that is gone, or has another name, leaves the list."""
    assert {path.stem for path in NOTEBOOKS} >= BEYOND


def test_each_limit_is_noticed(tmp_path):
    """A long cell, a long median, and four cells without a word; blank lines do not count."""

    def broken(*sources):
        cells = [
            nbformat.v4.new_code_cell(source) if source else nbformat.v4.new_markdown_cell("words")
            for source in sources
        ]
        path = tmp_path / "made.ipynb"
        nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
        return len(beyond_limits(path))

    assert broken("a = 1\n\n\n" * 10, "", *["b = 2"] * 3) == 0
    assert broken("a = 1\n" * 26, "b = 2", "c = 3") == 1
    assert broken("a = 1\n" * 11) == 1
    assert broken(*["a = 1"] * 4) == 1
