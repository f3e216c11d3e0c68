"""A run writes the claims of its notebook down before it measures; no row is ever changed."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from sample_book import PROJECT

from sizebook.book.chapters import find_chapters
from sizebook.book.ledger.tables import OwnKey, read_tables
from sizebook.book.ledger.written import find_own_claims, write_down
from sizebook.model.errors import UserError

CODE = """\
one = own_claim(
    "one", "Words in "
    "two pieces.", "gt",
)
page.claim(own_claim("two", f"As {text} says.", relation="level"), rows, "m", a, b, trials=every)
own_claim(name, "computed", "gt")
other.own_claim("three", "of something else", "gt")
"""


def write_notebook(folder: Path, *cells: str) -> Path:
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(each) for each in cells]
    notebook.cells.append(nbformat.v4.new_markdown_cell('own_claim("four", "in text", "gt")'))
    path = folder / "10-x.ipynb"
    nbformat.write(notebook, path)
    return path


def test_claims_are_found_in_the_code(tmp_path: Path) -> None:
    """Literal names and relations; a cell that cannot be parsed makes none."""
    found = find_own_claims(write_notebook(tmp_path, CODE, "own_claim(", CODE))
    assert [(each.key, each.statement) for each in found] == [
        (OwnKey("own-one", "gt"), "Words in two pieces."),
        (OwnKey("own-two", "level"), "f'As {text} says.'"),
    ]


def test_rows_are_added_once(tmp_path: Path) -> None:
    """Again changes nothing; another relation is another claim, and the old row stays."""
    notebook = write_notebook(tmp_path, CODE)
    assert write_down(tmp_path, notebook) == ["own-one", "own-two"]
    table = tmp_path / "data" / "claims" / "own.csv"
    first = table.read_bytes()
    assert write_down(tmp_path, notebook) == []
    assert table.read_bytes() == first
    changed = write_notebook(tmp_path, CODE.replace('"gt",', '"lt",').replace("pieces", "parts"))
    assert write_down(tmp_path, changed) == ["own-one"]
    assert table.read_bytes().startswith(first)
    assert set(read_tables(tmp_path).written_utc) == {
        OwnKey("own-one", "gt"), OwnKey("own-two", "level"), OwnKey("own-one", "lt"),
    }  # fmt: skip


def test_a_table_that_somebody_broke_is_not_written_to(tmp_path: Path) -> None:
    """What is there stays as it is."""
    table = tmp_path / "data" / "claims" / "own.csv"
    table.parent.mkdir(parents=True)
    table.write_text("claim_id,date\nown-one,today\n")
    with pytest.raises(UserError, match=r"own\.csv has the columns"):
        write_down(tmp_path, write_notebook(tmp_path, CODE))
    assert table.read_text() == "claim_id,date\nown-one,today\n"


def test_a_table_that_cannot_be_written_is_a_message(tmp_path: Path) -> None:
    """Found, expected, next step; before anything is measured."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "claims").write_text("no folder")
    with pytest.raises(UserError, match=r"own\.csv cannot be written") as found:
        write_down(tmp_path, write_notebook(tmp_path, CODE))
    assert "run again" in found.value.next_step


def test_every_claim_of_this_book_is_written_down() -> None:
    """So that whoever measures it anew gets verdicts."""
    written = read_tables(PROJECT).written_utc
    made = [each.key for one in find_chapters(PROJECT) for each in find_own_claims(one.notebook)]
    assert made
    assert set(made) <= set(written)
