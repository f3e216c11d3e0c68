"""What a user gives as a parameter is answered: by a plan, or by one message that names it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from sizebook.book.chapters import check_parameters, find_chapters, get_chapter
from sizebook.book.planning import plan_chapter
from sizebook.cli.selection import select
from sizebook.hosts.mode_kind import ModeKind
from sizebook.hosts.modes import FoundMode
from sizebook.model.errors import UsageError, UserError
from sizebook.stack.jvms import COLLECTORS
from sizebook.store import find_project

TemplateWriter = Callable[..., Path]

NASTY = (
    "0",
    "-1",
    "1.5",
    "",
    "1,1",
    "1,,2",
    "1_000",
    "\uff11",
    "nan",
    "inf",
    "1e99",
    "9" * 20,
    "x",
)
"""For a parameter of any type; each of the book's is given each of them."""
PARAMETERS = 'profile = "smoke"\nseats = [2, 4]\nwarm = 0.5\nrows = 3\nplace = "here"\n'
CHAPTERS = [each.id for each in find_chapters(find_project().root) if each.kind != "page"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("seats", ""),
        ("seats", ","),
        ("seats", "2,,4"),
        ("seats", "2,2"),
        ("seats", "1_0"),
        ("rows", "\uff13"),
        ("rows", "1_000"),
        ("rows", "9" * 16),
        ("warm", "nan"),
        ("warm", "-inf"),
        ("warm", "1e999"),
        ("warm", "0x1p3"),
        ("place", ""),
    ],
)
def test_what_is_not_written_as_a_value_is_refused(
    write_template: TemplateWriter, tmp_path: Path, name: str, text: str
) -> None:
    """Python reads more than people mean: digits of other alphabets, underscores, no number."""
    write_template(parameters=PARAMETERS)
    with pytest.raises(UsageError, match=f"found {name}="):
        check_parameters(get_chapter(tmp_path, "tiny"), {name: text})


def test_numbers_of_either_sign_and_lists_with_blanks_are_read(
    write_template: TemplateWriter, tmp_path: Path
) -> None:
    """Whether a chapter can use them is for the chapter to say."""
    write_template(parameters=PARAMETERS)
    given = {"seats": "8, 1", "warm": "-.5e-3", "rows": "+7"}
    found = check_parameters(get_chapter(tmp_path, "tiny"), given)
    assert found == {"seats": [8, 1], "warm": -0.0005, "rows": 7}


def test_a_parameter_given_twice_is_refused(write_template: TemplateWriter, tmp_path: Path) -> None:
    """The last would win without a word."""
    write_template(parameters=PARAMETERS)
    with pytest.raises(UsageError, match="parameter 'rows' twice"):
        select(tmp_path, ["tiny"], "smoke", "measure", ["rows=1", "rows=2"])


def test_values_without_sense_are_named_and_faults_of_a_notebook_are_not_hidden(
    write_template: TemplateWriter, tmp_path: Path
) -> None:
    """The parameter that alone makes the notebook fail is to blame; a bug keeps its traceback."""
    write_template("share = [100 / n for n in seats]", "least = rows / rows", parameters=PARAMETERS)
    chapter = get_chapter(tmp_path, "tiny")
    with pytest.raises(UsageError, match="found seats=0,1 for chapter tiny") as caught:
        plan_chapter(chapter, {"seats": [0, 1], "rows": 5})
    assert "seats=2,4" in str(caught.value)
    assert "rows" not in str(caught.value)
    assert "the notebook's code cannot compute with them" in str(caught.value)
    load = "from sizebook.model.load import ClosedLoop"
    write_template(load, "ClosedLoop(users=rows)", parameters=PARAMETERS)
    with pytest.raises(UsageError, match="users is 0 and must be above 0"):
        plan_chapter(get_chapter(tmp_path, "tiny"), {"rows": 0})
    write_template("raise KeyError('mine')", parameters=PARAMETERS)
    with pytest.raises(KeyError, match="mine"):
        plan_chapter(get_chapter(tmp_path, "tiny"), {"rows": 5})


def all_modes(state: Path, kinds: Iterable[ModeKind]) -> tuple[FoundMode, ...]:
    """Say of each mode that it is there, untried."""
    assert state
    return tuple(FoundMode(kind.mode, kind.title, tried=False) for kind in kinds)


@pytest.mark.parametrize("chapter_id", CHAPTERS)
def test_every_parameter_of_the_book_answers_every_value(
    monkeypatch: pytest.MonkeyPatch, chapter_id: str
) -> None:
    """A plan or one message: found, expected, next; never another exception.

    On a machine that has every mode and collector, so that each parameter is used; nobody asks.
    """
    monkeypatch.setattr("sizebook.lab.modes.glance_at_modes", all_modes)
    monkeypatch.setattr("sizebook.stack.jvms.find_collectors", lambda jvm: tuple(COLLECTORS))
    chapter = get_chapter(find_project().root, chapter_id)
    for parameter in chapter.parameters:
        for text in NASTY:
            try:
                values = check_parameters(chapter, {"profile": "smoke", parameter.name: text})
                plan_chapter(chapter, values)
            except UserError as error:
                assert "expected" in str(error)
