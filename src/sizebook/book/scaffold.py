"""New chapters and books, from templates: what runs at once, for an author to change."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, PackageLoader, StrictUndefined

from sizebook.book.chapters import find_chapters
from sizebook.book.guides import lock_entry, read_shipped
from sizebook.book.own_wheel import pack_wheel
from sizebook.model.errors import UsageError
from sizebook.model.urls import read_url
from sizebook.store.named_paths import writing
from sizebook.traffic.writing import WrittenLoad

_ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_LONGEST_ID = 40
_LAST_ORDER = 89
"""Chapters from 90 on are pages of reference."""
_OWN_PART = "Your own system"
_BOOK_FILES = {
    "config.yml": "_config.yml",
    "toc.yml": "book/_toc.yml",
    "index.md": "book/index.md",
    "method.md": "book/method.md",
    "gitignore": ".gitignore",
    "pyproject.toml": "pyproject.toml",
    "Makefile": "Makefile",
    "README.md": "README.md",
    "workflow.yml": ".github/workflows/book.yml",
}


_RATES: dict[str, Any] = {
    "design": "rates",
    "factor": "rate_per_s",
    "levels": "rates_per_s",
    "label": "Due per second",
    "axis": "requests due per second",
    "by": "the rate of requests",
    "factor_word": "rate",
}
_VISITORS = _RATES | {
    "design": "visitors",
    "factor": "users",
    "levels": "users",
    "label": "Visitors",
    "axis": "visitors at a time",
    "by": "the number of visitors",
    "factor_word": "visitors",
    "at_most": "With {most:g} visitors at a time",
}
_SPEEDS = _RATES | {
    "design": "speeds",
    "factor": "speed",
    "levels": "speeds",
    "label": "Times as fast as recorded",
    "axis": "times as fast as recorded",
    "by": "the speed of the replay",
    "factor_word": "speed",
    "at_most": "At {most:g} times the recorded speed",
}
_MEASURABLE_PER_S = 100.0
"""A rate at which even a short trial has some dozen requests."""
_TESTED_BY = (("dev.lock", "ruff"),)
"""Lock file and package of what tests need beside the rest."""


@dataclass(frozen=True)
class NewChapter:
    """What an author says of a chapter that is to be begun."""

    id: str
    title: str
    part: str = ""
    """Caption of its part in the table of contents; empty: the last one with numbered chapters."""
    url: str = ""
    """Where the system runs already; empty: it is started by a command."""
    load: WrittenLoad | None = None
    """Its load, made of what was recorded; None: one page again and again."""

    @property
    def module(self) -> str:
        """Name of its load profile's file without ``.py``, and of the folder of its data."""
        return self.id.replace("-", "_")

    @property
    def locustfile(self) -> str:
        """Name of its load profile's file."""
        return f"{self.module}.py"

    @property
    def inventory(self) -> str:
        """Path of the inventory that names its system; empty where none is needed."""
        elsewhere = self.url and not read_url(self.url).is_own
        return f"inventories/{self.id}.yaml" if elsewhere else ""


def start_chapter(root: Path, chapter: NewChapter) -> tuple[Path, ...]:
    """Write a chapter's notebook, load profile and test; add it to the table of contents.

    Return what was written or changed. Raises UsageError for an id, title or URL that cannot be
    used and for a file that is there already; then nothing is written. Raises it, too, for a file
    that cannot be written.
    """
    _check(chapter)
    known = find_chapters(root)
    if chapter.id in {each.id for each in known}:
        raise UsageError(
            found=f"a chapter {chapter.id!r} in this project",
            expected="an id that no chapter has",
            next_step="choose another id",
        )
    order = max((each.order for each in known if each.order < _LAST_ORDER), default=9) + 1
    part = chapter.part or _last_part([each.part for each in known if each.order <= _LAST_ORDER])
    made = _chapter_texts(chapter, min(order, _LAST_ORDER), part)
    texts = {root / path: text for path, text in made.items()}
    for path in (*texts, *([root / "locustfiles" / chapter.module] if chapter.load else ())):
        if path.exists():
            raise UsageError(
                found=f"a file {path.relative_to(root)}",
                expected="no file of that name: nothing is overwritten",
                next_step="choose another id",
            )
    toc = root / "book" / "_toc.yml"
    try:
        listed = toc.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            found=f"book/_toc.yml that cannot be read ({error})",
            expected="the contents of a book, to which the chapter is added",
            next_step="change into a book, or begin one: sizebook new book FOLDER",
        ) from error
    contents = add_to_contents(listed, part, f"chapters/{chapter.id}")
    for path, text in {**texts, toc: contents}.items():
        with writing(path, "make the book's folders writable"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    return (*texts, toc)


def start_book(folder: Path, title: str, chapter: NewChapter) -> tuple[Path, ...]:
    """Write a book of one chapter on this harness into a new folder; return what was written.

    Raises UsageError if there is something in the folder already, or it cannot be written. It is
    there whole or not at all.
    """
    _check(chapter)
    _check_title(title)
    with writing(folder, "choose another folder"):
        return _start_book(folder, title, chapter)


def _start_book(folder: Path, title: str, chapter: NewChapter) -> tuple[Path, ...]:
    is_there = os.path.lexists(folder)
    if is_there and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(
            found=f"{folder}, which is there and {'not empty' if folder.is_dir() else 'no folder'}",
            expected="a folder that is new or empty: nothing is overwritten",
            next_step="choose another folder",
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=".sizebook-new-", dir=folder.parent))
    try:
        known = {
            "title": title,
            "id": chapter.id,
            "name": re.sub(r"[^a-z0-9]+", "-", folder.name.lower()).strip("-") or "book",
            "year": time.strftime("%Y"),
            "args": f" --inventory {chapter.inventory}" if chapter.inventory else "",
        }
        for template, path in _BOOK_FILES.items():
            target = partial / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(_render(f"book/{template}.j2", **known), encoding="utf-8")
        (partial / "env").mkdir()
        for name, text in _locks().items():
            (partial / name).write_text(text, encoding="utf-8")
        packed = pack_wheel(partial / "wheels")
        (partial / "notebooks").mkdir()
        written = start_chapter(partial, chapter)
        partial.chmod(0o777 & ~_umask())
        if folder.exists():
            folder.rmdir()
        partial.rename(folder)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    made = [*written, *([packed] if packed is not None else [])]
    names = (*_BOOK_FILES.values(), *_locks(), *(str(path.relative_to(partial)) for path in made))
    paths = dict.fromkeys(names)
    return tuple(folder / path for path in paths)


def _locks() -> dict[str, str]:
    """Return path to text of the lock files: what a book needs to be made, and to be tested."""
    tested = "".join(f"{lock_entry(*each)}\n" for each in _TESTED_BY)
    return {"env/requirements.lock": read_shipped("requirements.lock"), "env/test.lock": tested}


def add_to_contents(toc: str, part: str, page: str) -> str:
    """Return the text of a ``_toc.yml`` with a page at the end of a part, all else as it was.

    A part that is not there is added, before the parts whose pages are no chapters.
    """
    lines = toc.rstrip("\n").split("\n")
    begins = [n for n, line in enumerate(lines) if line.startswith("- caption:")]
    ends = [*begins[1:], len(lines)]
    entry = f"  - file: {page}"
    for begin, end in zip(begins, ends, strict=True):
        if yaml.safe_load(lines[begin])[0]["caption"] == part:
            return "\n".join([*lines[:end], entry, *lines[end:]]) + "\n"
    numbered = [
        end
        for begin, end in zip(begins, ends, strict=True)
        if any(line.strip() == "numbered: true" for line in lines[begin:end])
    ]
    at = numbered[-1] if numbered else len(lines)
    own = [f"- caption: {json.dumps(part)}", "  numbered: true", "  chapters:", entry]
    return "\n".join([*lines[:at], *own, *lines[at:]]) + "\n"


def _chapter_texts(chapter: NewChapter, order: int, part: str) -> dict[str, str | bytes]:
    """Return path to text of each file of a chapter."""
    load = chapter.load
    known = {
        **_words_of(load),
        "module": chapter.module,
        "ready": load.ready if load is not None else "/",
        "id": chapter.id,
        "title": chapter.title,
        "locustfile": chapter.locustfile,
        "started": not chapter.url,
        "url": "" if chapter.inventory else chapter.url,
        "factories": "given_system, place" if chapter.url else "place, started_system",
        "inventory": f', inventory=ROOT / "{chapter.inventory}"' if chapter.inventory else "",
    }
    if load is not None:
        files = {f"locustfiles/{path}": text for path, text in load.files.items()}
    else:
        files = {f"locustfiles/{chapter.locustfile}": _render("locustfile.py.j2", **known)}
    texts: dict[str, str | bytes] = {
        f"notebooks/{order:02d}-{chapter.id}.ipynb": _notebook(chapter, order, part, known),
        **files,
        f"tests/smoke/test_{chapter.locustfile}": _render("test_chapter.py.j2", **known),
    }
    if chapter.inventory:
        text = _render("inventory.yaml.j2", id=chapter.id, url=chapter.url)
        texts[chapter.inventory] = text
    return texts


def _words_of(load: WrittenLoad | None) -> dict[str, Any]:
    """Return what the notebook varies, and what it calls that."""
    kind = load.kind if load is not None else ""
    words = _RATES
    if load is not None and kind == "session":
        words = _VISITORS | {"visit_s": max(1.0, round(load.length_s, 1))}
    elif load is not None and kind == "log":
        words = _SPEEDS | {"speeds": _speeds(load.rate_per_s)}
    return {"kind": kind, **words}


def _speeds(rate_per_s: float) -> list[float]:
    """Return speeds of a replay: as recorded, and faster until there is enough to be measured."""
    if rate_per_s <= 0 or rate_per_s * 4 >= _MEASURABLE_PER_S:
        return [1.0, 2.0, 4.0]
    top = 10.0 ** math.ceil(math.log10(_MEASURABLE_PER_S / rate_per_s))
    return [1.0, top / 2, top]


def _notebook(chapter: NewChapter, order: int, part: str, known: dict[str, Any]) -> str:
    """Return the notebook: its template is one itself, and each cell's text a template."""
    environment = _environment()
    source, *_ = PackageLoader("sizebook.book", "new").get_source(environment, "chapter.ipynb.j2")
    notebook = json.loads(source)
    for number, cell in enumerate(notebook["cells"]):
        text = environment.from_string("".join(cell["source"])).render(known)
        cell["source"] = text.splitlines(keepends=True)
        cell["id"] = f"{chapter.id}-{number:02d}"
    notebook["metadata"]["sizebook"] = {
        "id": chapter.id,
        "kind": "chapter",
        "order": order,
        "part": part,
        "sources": [],
        "title": chapter.title,
    }
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("sizebook.book", "new"),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )


def _render(template: str, **known: Any) -> str:
    return _environment().get_template(template).render(**known)


def _last_part(parts: Iterable[str]) -> str:
    return next(reversed([part for part in parts if part]), _OWN_PART)


def _check(chapter: NewChapter) -> None:
    if len(chapter.id) > _LONGEST_ID or not _ID.fullmatch(chapter.id):
        raise UsageError(
            found=f"chapter id {chapter.id!r}",
            expected=f"at most {_LONGEST_ID} small letters, digits and hyphens, a letter first",
            next_step="choose another id, such as 'checkout-load'",
        )
    _check_title(chapter.title)
    _check_title(chapter.part or _OWN_PART)
    if chapter.url:
        read_url(chapter.url)


def _check_title(title: str) -> None:
    if not title.strip() or not title.isprintable():
        raise UsageError(
            found=f"title {title!r}",
            expected="one line of text",
            next_step="give one with --title",
        )


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
