"""The whole book as a PDF: bound into one page, printed by headless Chromium, without network."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from pypdf import PdfReader

from sizebook.book.groups import run_group
from sizebook.book.print_html import bind_pages
from sizebook.model.errors import HostLacksError, UserError

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_LIMIT_S = 300
_FLAGS = (
    "--headless",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--no-pdf-header-footer",
    "--generate-pdf-document-outline",
)


@dataclass(frozen=True)
class PrintedBook:
    """A PDF on disk."""

    path: Path
    pages: int
    bytes: int


def find_chromium() -> str:
    """Return the path of an installed Chromium. Raises HostLacksError that says what to install."""
    for name in _NAMES:
        path = shutil.which(name)
        if path:
            return path
    raise HostLacksError(
        found=f"none of {', '.join(_NAMES)}",
        expected="a browser that opens and prints pages",
        next_step="install the package chromium (Debian, Ubuntu, Fedora) or Google Chrome",
    )


def print_book(root: Path) -> PrintedBook:
    """Print the site below ``root`` as ``_build/sizebook.pdf``, in light colours on A4.

    It is printed twice: only then is known on which page a chapter begins, which the contents say.
    Raises HostLacksError without Chromium, and UserError when it gives up.
    """
    chromium = find_chromium()
    build = root / "_build"
    page, target = build / "sizebook-paper.html", build / "sizebook.pdf"
    try:
        _print(chromium, page, bind_pages(build / "html", root), target)
        _print(chromium, page, bind_pages(build / "html", root, _numbers(target)), target)
    finally:
        page.unlink(missing_ok=True)
    return PrintedBook(target, len(PdfReader(target).pages), target.stat().st_size)


def _numbers(pdf: Path) -> dict[str, int]:
    """Return the page of each anchor that a link of the PDF leads to, from 1."""
    reader = PdfReader(pdf)
    numbers = {}
    for name, place in reader.named_destinations.items():
        number = reader.get_destination_page_number(place)
        if number is not None:
            numbers[str(name).removeprefix("/")] = number + 1
    return numbers


def _print(chromium: str, page: Path, html: str, target: Path) -> None:
    page.write_text(html, encoding="utf-8")
    target.unlink(missing_ok=True)
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium refuses root in its sandbox
    with tempfile.TemporaryDirectory(prefix="sizebook-pdf-") as profile:
        command = [chromium, *_FLAGS, *sandbox, f"--user-data-dir={profile}",
                   f"--print-to-pdf={target}", page.as_uri()]  # fmt: skip
        try:
            done = run_group(command, timeout_s=_LIMIT_S)
            said = f"ended with {done.returncode}: {done.stdout.strip()[-300:]}"
        except subprocess.TimeoutExpired:
            said = f"did not end within {_LIMIT_S} s"
    if not target.is_file():
        raise UserError(
            found=f"no PDF: {Path(chromium).name} {said}",
            expected="the book printed",
            next_step="try again, or print single pages of _build/html from a browser",
        )
