"""Build the site: ``_build/html`` from pages and executed notebooks, warnings as errors."""

from __future__ import annotations

import os
import posixpath
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from sizebook.book.chapters import find_chapters
from sizebook.book.groups import run_group
from sizebook.model.errors import UserError

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_PROBLEM = re.compile(r"\b(WARNING|ERROR|CRITICAL|\w*Exception|\w*Error)\b")
_SHOWN_LINES = 12
_PARTS = ("parts", "chapters", "sections", "subtrees", "entries")
"""Keys of a table of contents below which pages are named."""
CHAPTERS = "chapters/"
_UNMEASURED = """\
# {title}

## Not measured

No published round has this chapter, and it was not run here.
`make chapter CHAPTER={chapter}` measures it.
"""

TRIALS = "trials"
"""Folder of a built site with the trials' pages."""


def build_site(root: Path, *, partial: bool = False) -> Path:
    """Build the book below ``root`` and give the path of its ``index.html``.

    A ``partial`` book has a page that says so in place of each chapter without results.
    Says nothing on success. Raises UserError that lists the pages without a notebook, or the
    warnings of the build. Works without network.
    """
    _forget_unmeasured(root)
    if partial:
        _write_unmeasured(root)
    check_pages(root)
    _forget_build(root)
    command = "import sizebook; from jupyter_book.cli.main import main; main()"
    flags = ["build", "book", "-n", "-W", "--keep-going"]
    done = run_group(
        [sys.executable, "-c", command, *flags],
        cwd=root,
        # tables here are small: the threads that polars would add wait for each other
        env={"POLARS_MAX_THREADS": "1", **os.environ, "PYTHONWARNINGS": "ignore", "NO_COLOR": "1"},
    )
    index = site_index(root)
    if done.returncode != 0 or not index.exists():
        raise UserError(
            found=f"the site does not build: {_summarize(done.stdout, root)}",
            expected="a build without warnings",
            next_step="mend the pages named above and build again",
        )
    return index


def check_pages(root: Path) -> None:
    """Raise UserError when a page in the table of contents does not exist.

    A chapter that was not run yet is named with the command that makes it.
    """
    toc = root / "book" / "_toc.yml"
    if not toc.exists():
        raise UserError(
            found="no book/_toc.yml here",
            expected="the folder that holds the book",
            next_step="change to the project's folder",
        )
    missing = [name for name in list_pages(toc) if not _page_exists(root / "book" / name)]
    chapters = [name.removeprefix("chapters/") for name in missing if name.startswith("chapters/")]
    texts = [name for name in missing if not name.startswith("chapters/")]
    if texts:
        raise UserError(
            found=f"no file for {', '.join(texts)} of book/_toc.yml",
            expected="one page for each entry",
            next_step="write the page or take its entry out",
        )
    if chapters:
        raise UserError(
            found=f"{len(chapters)} chapters without measurements: {', '.join(chapters)}",
            expected="an executed notebook for each chapter of book/_toc.yml",
            next_step=f"sizebook run {shlex.join(chapters)}",
        )


def list_pages(toc: Path) -> list[str]:
    """Give the pages of a ``_toc.yml`` in reading order, without their endings.

    Raises UserError for another form: a page that is not seen here is not looked at by anybody.
    """
    try:
        return list(_walk(yaml.safe_load(toc.read_text(encoding="utf-8"))))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        first, *_ = str(error).splitlines() or [type(error).__name__]
        raise UserError(
            found=f"a table of contents that cannot be read: {first[:200]}",
            expected="a book/_toc.yml that names each page by its file",
            next_step="mend book/_toc.yml",
        ) from error


def _walk(entry: Any) -> Iterator[str]:
    if not isinstance(entry, dict):
        raise ValueError(f"an entry {str(entry)[:60]!r}")
    if "glob" in entry:
        raise ValueError(f"a pattern {str(entry['glob'])[:60]!r}, not the name of a page")
    name = entry.get("root") or entry.get("file")
    if name:
        page = str(name).removesuffix(".md").removesuffix(".ipynb")
        if posixpath.normpath(page) != page or page.startswith(("/", "..")):
            raise ValueError(f"a page {page[:60]!r}, which has a shorter name or is elsewhere")
        yield page
    for part in _PARTS:
        below = entry.get(part, [])
        if not isinstance(below, list):
            raise ValueError(f"{part} without a list of entries")
        for each in below:
            yield from _walk(each)


def _page_exists(page: Path) -> bool:
    return any(page.with_name(page.name + ending).exists() for ending in (".md", ".ipynb"))


def site_index(root: Path) -> Path:
    """Return where the first page of the built book is, or will be."""
    return root / "_build" / "html" / "index.html"


def is_unmeasured(book: Path, page: str) -> bool:
    """Return whether a page of a partial book says only that its chapter has no results."""
    return page.startswith(CHAPTERS) and (book / f"{page}.md").is_file()


def _forget_unmeasured(root: Path) -> None:
    for path in (root / "book" / CHAPTERS).glob("*.md"):
        path.unlink()


def _write_unmeasured(root: Path) -> None:
    titles = {each.id: each.title for each in find_chapters(root)}
    toc = root / "book" / "_toc.yml"
    pages = list_pages(toc) if toc.exists() else []
    for page in pages:
        chapter = page.removeprefix(CHAPTERS)
        if chapter in titles and not _page_exists(root / "book" / page):
            path = root / "book" / f"{page}.md"
            path.parent.mkdir(exist_ok=True)
            path.write_text(_UNMEASURED.format(title=titles[chapter], chapter=chapter))


def _forget_build(root: Path) -> None:
    """Remove the last build: the same sources must give the same site, whatever came before.

    From what it kept Sphinx writes other style sheet links and another search index, and it shows
    the warnings of a page only once. Pages of trials stay, half of the work in a large book: each
    says what it was made from, and is made anew where that has changed (``trial_pages``).
    """
    site = root / "_build" / "html"
    for each in site.iterdir() if site.is_dir() else ():
        if each.is_dir() and not each.is_symlink():
            if each.name != TRIALS:
                shutil.rmtree(each)
        else:
            each.unlink()
    shutil.rmtree(root / "_build" / ".doctrees", ignore_errors=True)


def _summarize(output: str, root: Path) -> str:
    """Give the lines of a build that say what is wrong, with paths inside the project."""
    lines = _ANSI.sub("", output).replace(f"{root.resolve()}{os.sep}", "").splitlines()
    problems = [line.strip() for line in lines if _PROBLEM.search(line)]
    shown = problems or [line for line in lines if line.strip()][-20:]
    distinct = list(dict.fromkeys(shown))
    more = len(distinct) - _SHOWN_LINES
    return " | ".join(distinct[:_SHOWN_LINES] + ([f"and {more} more"] if more > 0 else []))
