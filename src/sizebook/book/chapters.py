"""The chapters of the book, read from the notebooks themselves.

A notebook ``notebooks/NN-id.ipynb`` says what it is in ``metadata.sizebook`` (``id``, ``title``,
``part``, ``order``, ``sources``, ``kind``, and ``borrows`` if it reads trials of other chapters)
and has one cell tagged ``parameters``: assignments of literals, each with a comment that explains
it.
"""

from __future__ import annotations

import ast
import io
import json
import re
import shlex
import tokenize
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from sizebook.lab.profiles import get_profile
from sizebook.model.errors import UsageError, UserError
from sizebook.store.plain_files import need_plain

Kind = Literal["chapter", "calibration", "page"]
ParameterValue = str | int | float | bool | list[Any] | None

_FIELDS = {"id", "title", "part", "order", "sources", "kind"}
_BORROWS = "borrows"
_WHOLE = re.compile(r"[+-]?[0-9]{1,15}")
_NUMBER = re.compile(r"[+-]?([0-9]{1,15}(\.[0-9]{0,15})?|\.[0-9]{1,15})([eE][+-]?[0-9]{1,2})?")


@dataclass(frozen=True)
class ChapterParameter:
    """One parameter of a chapter: its default and what its comment says."""

    name: str
    default: ParameterValue
    help: str


@dataclass(frozen=True)
class Chapter:
    """One notebook of the book."""

    id: str
    title: str
    part: str
    order: int
    sources: tuple[str, ...]
    kind: Kind
    notebook: Path
    parameters: tuple[ChapterParameter, ...]
    borrows: tuple[str, ...] = ()
    """The chapters whose trials it reads, beside its own."""

    @property
    def page(self) -> str:
        """The name of its page in the book, without ending."""
        return f"chapters/{self.id}"


def find_chapters(root: Path) -> list[Chapter]:
    """Give all chapters below ``root``, in the order of the book.

    Raises UserError for a notebook that does not say what it is, and for an id used twice.
    """
    chapters = [_read_chapter(path) for path in sorted((root / "notebooks").glob("*.ipynb"))]
    by_id: dict[str, Chapter] = {}
    for chapter in chapters:
        other = by_id.setdefault(chapter.id, chapter)
        if other is not chapter:
            raise UserError(
                found=f"{other.notebook.name} and {chapter.notebook.name} are both {chapter.id!r}",
                expected="one notebook for each chapter id",
                next_step="change the id in the metadata of one of them",
            )
    return sorted(chapters, key=lambda each: (each.order, each.id))


def get_chapter(root: Path, chapter_id: str) -> Chapter:
    """Give one chapter by its id. Raises UsageError that lists the known ids."""
    chapters = {chapter.id: chapter for chapter in find_chapters(root)}
    if chapter_id not in chapters:
        raise UsageError(
            found=f"no chapter {chapter_id!r}",
            expected=f"one of {', '.join(chapters) or 'none: there is no notebook'}",
            next_step="sizebook chapters",
        )
    return chapters[chapter_id]


def check_parameters(chapter: Chapter, given: Mapping[str, str]) -> dict[str, ParameterValue]:
    """Give the typed values of parameters given as text; the type is that of the default.

    Lists are written with commas, truth values as yes or no. Raises UsageError for a name that the
    chapter does not have, for a value of another type, and for a list that is empty or names a
    value twice where the default does not; ``profile`` must be a profile of the lab,
    ``replicates`` a number of them that a profile can have.
    """
    known = {parameter.name: parameter for parameter in chapter.parameters}
    values: dict[str, ParameterValue] = {}
    for name, text in given.items():
        if name not in known:
            raise UsageError(
                found=f"chapter {chapter.id} has no parameter {name!r}",
                expected=f"one of {', '.join(known) or 'none'}",
                next_step=f"sizebook chapters {shlex.quote(chapter.id)}",
            )
        try:
            values[name] = _parse(text, known[name].default)
        except ValueError as error:
            raise UsageError(
                found=f"{name}={text!r} for chapter {chapter.id}",
                expected=f"{error}, such as the default {known[name].default!r}",
                next_step=f"sizebook chapters {shlex.quote(chapter.id)}",
            ) from error
    if "profile" in values:
        asked = values.get("replicates", 0)
        get_profile(str(values["profile"]), asked if isinstance(asked, int) else 0)
    return values


def read_parameters(source: str) -> tuple[ChapterParameter, ...]:
    """Give the parameters of a parameters cell: assignments of literals with their comments.

    Raises ValueError for any other statement.
    """
    comments = _comments_by_line(source)
    parameters = []
    for statement in ast.parse(source).body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                pass
            case _:
                raise ValueError(f"line {statement.lineno} assigns no literal to a plain name")
        default = ast.literal_eval(value)
        lines = range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
        help_text = " ".join(comments[line] for line in lines if line in comments)
        parameters.append(ChapterParameter(name, default, help_text))
    return tuple(parameters)


def _read_chapter(path: Path) -> Chapter:
    need_plain(path, "a notebook")
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        about = notebook["metadata"]["sizebook"]
        if set(about) - {_BORROWS} != _FIELDS or about["kind"] not in get_args(Kind):
            raise ValueError(f"metadata.sizebook holds {sorted(about)}, kind {about.get('kind')!r}")
        cells = [each for each in notebook["cells"] if _has_tag(each, "parameters")]
        if len(cells) != 1:
            raise ValueError(f"{len(cells)} cells are tagged parameters")
        parameters = read_parameters("".join(cells[0]["source"]))
    except (ValueError, KeyError, TypeError, SyntaxError) as error:
        raise UserError(
            found=f"{path.name} does not say what it is ({error})",
            expected=f"metadata.sizebook with {', '.join(sorted(_FIELDS))}, one parameters cell",
            next_step="see the page on writing a chapter",
        ) from error
    return Chapter(
        id=str(about["id"]),
        title=str(about["title"]),
        part=str(about["part"]),
        order=int(about["order"]),
        sources=tuple(about["sources"]),
        kind=about["kind"],
        notebook=path,
        parameters=parameters,
        borrows=tuple(about.get(_BORROWS, ())),
    )


def _has_tag(cell: Mapping[str, Any], tag: str) -> bool:
    tags: Sequence[str] = cell.get("metadata", {}).get("tags", [])
    return tag in tags


def _comments_by_line(source: str) -> dict[int, str]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {
        token.start[0]: token.string.lstrip("# ").rstrip()
        for token in tokens
        if token.type == tokenize.COMMENT
    }


def _parse(text: str, default: ParameterValue) -> ParameterValue:
    match default:
        case bool():
            return _parse_truth(text)
        case int():
            return int(_matched(_WHOLE, text, "a whole number of up to 15 digits"))
        case float():
            return float(_matched(_NUMBER, text, "a number"))
        case list() | tuple():
            return _parse_list(text, default)
        case _:
            if not text and default:
                raise ValueError("some text")
            return text


def _parse_list(text: str, default: Sequence[Any]) -> list[Any]:
    example = default[0] if default else ""
    pieces = [each.strip() for each in text.split(",")] if text or default else []
    if not all(pieces):
        raise ValueError("values with one comma between two")
    values = [_parse(each, example) for each in pieces]
    if len({*values}) < len(values) and len({*default}) == len(default):
        raise ValueError("each value once")
    return values


def _parse_truth(text: str) -> bool:
    words = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
    if text.lower() not in words:
        raise ValueError("yes or no")
    return words[text.lower()]


def _matched(pattern: re.Pattern[str], text: str, words: str) -> str:
    """Return the text if it is written as people write numbers; Python reads ``1_000``, too."""
    if not pattern.fullmatch(text):
        raise ValueError(words)
    return text
