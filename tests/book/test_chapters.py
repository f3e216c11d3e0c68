"""The registry of chapters is what the notebooks say of themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from sizebook.book.chapters import (
    Chapter,
    ChapterParameter,
    check_parameters,
    find_chapters,
    get_chapter,
    read_parameters,
)
from sizebook.model.errors import UsageError, UserError

TemplateWriter = Callable[..., Path]

CELL = """\
profile = "smoke"  # smoke, quick or full
levels = [1, 5]  # users at a time
rate: float = 2.5  # requests
retry = False
replicates = 0
"""


@pytest.fixture
def chapter(write_template: TemplateWriter, tmp_path: Path) -> Chapter:
    """Give a chapter with a parameter of each type."""
    write_template(parameters=CELL, sources=["gateway-2012"])
    return get_chapter(tmp_path, "tiny")


def test_chapter_is_read_from_its_notebook(chapter: Chapter) -> None:
    """Metadata and the parameters cell make the chapter, comments included."""
    assert (chapter.id, chapter.title, chapter.sources) == ("tiny", "Tiny", ("gateway-2012",))
    assert chapter.page == "chapters/tiny"
    expected = (
        ChapterParameter("profile", "smoke", "smoke, quick or full"),
        ChapterParameter("levels", [1, 5], "users at a time"),
        ChapterParameter("rate", 2.5, "requests"),
        ChapterParameter("retry", False, ""),
        ChapterParameter("replicates", 0, ""),
    )
    assert expected == chapter.parameters


def test_chapters_come_in_the_book_s_order(write_template: TemplateWriter, tmp_path: Path) -> None:
    """The order in the metadata decides, not the file's name."""
    write_template(name="a", order=2)
    write_template(name="b", order=1)
    assert [each.id for each in find_chapters(tmp_path)] == ["b", "a"]


def test_unknown_chapter_lists_the_known(chapter: Chapter, tmp_path: Path) -> None:
    """A wrong id is answered with the right ones."""
    with pytest.raises(UsageError, match=r"no chapter 'x'; expected one of tiny"):
        get_chapter(tmp_path, "x")


def test_two_notebooks_cannot_be_one_chapter(
    write_template: TemplateWriter, tmp_path: Path
) -> None:
    """An id used twice is an error that names both files."""
    write_template()
    write_template(name="other").rename(tmp_path / "notebooks" / "02-other.ipynb")
    text = (tmp_path / "notebooks" / "02-other.ipynb").read_text().replace('"other"', '"tiny"')
    (tmp_path / "notebooks" / "02-other.ipynb").write_text(text)
    with pytest.raises(UserError, match=r"01-tiny\.ipynb and 02-other\.ipynb are both 'tiny'"):
        find_chapters(tmp_path)


@pytest.mark.parametrize("about", [{"kind": "story"}, {"colour": "red"}])
def test_unknown_metadata_is_refused(
    write_template: TemplateWriter, tmp_path: Path, about: Mapping[str, str]
) -> None:
    """An unknown kind or field is an error, not a surprise later."""
    write_template(**about)
    with pytest.raises(UserError, match=r"01-tiny\.ipynb does not say what it is"):
        find_chapters(tmp_path)


def test_parameters_take_the_type_of_their_default(chapter: Chapter) -> None:
    """Text from the command line becomes what the notebook expects."""
    given = {"profile": "full", "levels": "1, 20", "rate": "3", "retry": "yes"}
    expected = {"profile": "full", "levels": [1, 20], "rate": 3.0, "retry": True}
    assert expected == check_parameters(chapter, given)
    assert check_parameters(chapter, {}) == {}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"speed": "1"},
            "no parameter 'speed'; expected one of profile, levels, rate, retry, replicates",
        ),
        ({"rate": "fast"}, "rate='fast' .* expected a number"),
        ({"levels": "1,x"}, "levels='1,x' .* expected a whole number"),
        ({"retry": "maybe"}, "expected yes or no"),
        ({"profile": "huge"}, "expected one of smoke, quick, full"),
        ({"profile": "quick", "replicates": "-1"}, "expected 1 to 1000, or 0 for the 3 of"),
    ],
)
def test_wrong_parameters_are_refused(
    chapter: Chapter, given: Mapping[str, str], message: str
) -> None:
    """An unknown name and a malformed value say what was expected."""
    with pytest.raises(UsageError, match=message):
        check_parameters(chapter, given)


@pytest.mark.parametrize("source", ["x = f()", "import os", "a.b = 1", "x = y"])
def test_parameters_are_literals(source: str) -> None:
    """A parameters cell that computes is refused: nothing of it is executed here."""
    with pytest.raises(ValueError, match=r"line|malformed"):
        read_parameters(source)
