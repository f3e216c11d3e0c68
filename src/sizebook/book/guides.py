"""Documents and lock files that come with the package: from a checkout, or out of a wheel."""

from __future__ import annotations

import json
import re
from pathlib import Path

import sizebook
from sizebook.model.errors import UsageError

_PACKAGE = Path(sizebook.__file__).resolve().parent
_SOURCES: dict[str, str] = json.loads(
    Path(__file__).with_name("shipped.json").read_text(encoding="utf-8")
)
"""Name in the package to place in a checkout; ``setup.py`` copies them into a wheel."""
_CHAPTER = re.compile(r"\{doc\}`(?:[^<`]*<)?chapters/([a-z0-9-]+)>?`")
_PAGE = re.compile(r"\{doc\}`(?:[^<`]*<)?([a-z-]+)>?`")
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)


def read_shipped(name: str) -> str:
    """Return the text of a document or lock file of this version of the package."""
    there = _PACKAGE / "shipped" / name
    source = there if there.is_file() else _PACKAGE.parents[1] / _SOURCES[name]
    return source.read_text(encoding="utf-8")


def list_guides() -> dict[str, str]:
    """Return name to title of the documents, sorted by name."""
    names = sorted(Path(name).stem for name in _SOURCES if name.endswith(".md"))
    return {name: _title(read_shipped(f"{name}.md")) for name in names}


def read_guide(name: str) -> str:
    """Return a document as plain Markdown. Raises UsageError for one that there is not."""
    if f"{name}.md" not in _SOURCES:
        raise UsageError(
            found=f"guide {name!r}",
            expected=f"one of {', '.join(list_guides())}",
            next_step="sizebook guide lists them with their titles",
        )
    text = _CHAPTER.sub(r"the chapter *\1* of Sizebook's own book", read_shipped(f"{name}.md"))
    return _PAGE.sub(r"the guide *\1*", text)


def lock_entry(lock: str, package: str) -> str:
    """Return the pin of a package in a lock file, with its hashes."""
    entries = re.split(r"\n(?=[A-Za-z0-9])", read_shipped(lock))
    return next(each.strip() for each in entries if each.startswith(f"{package}=="))


def _title(text: str) -> str:
    found = _TITLE.search(text)
    return found[1].strip() if found is not None else ""
