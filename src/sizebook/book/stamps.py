"""What decides how a page looks, as one checksum: the page is stale once that is another.

A page depends on the harness, which all pages share, and on the rooms of chapters that its own
template enters: an edit in one chapter's room makes one page again.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import sizebook
from sizebook.book.chapters import Chapter
from sizebook.lab import calibration
from sizebook.lab.inventories import inventory_fingerprint
from sizebook.report.evidence import hash_json

_PACKAGE = Path(sizebook.__file__).parent
_ROOMS = _PACKAGE / "chapters"


def make_stamp(
    root: Path, chapter: Chapter, parameters: Mapping[str, Any], *, so_far: bool = False
) -> str:
    """Give one checksum over all that decides what a chapter's page shows.

    A page of what was measured ``so_far`` is none of a whole measurement, and has another.

    Template, parameters, harness, the rooms of chapters that the template enters, load profiles and
    what lies beside them, stack sources, benchmarks with their results, what the reports printed,
    lock file and inventory by content; bundles (of the chapter, the calibration, and the chapters
    that it borrows from) by name and size, as they are never changed once written.
    """
    contents = [chapter.notebook, root / "env" / "requirements.lock", *list_harness()]
    contents += [*list_rooms(chapter.notebook), *_list_load(root / "locustfiles")]
    contents += [root / "stack" / "pom.xml", *_list_files(root / "stack" / "src")]
    contents += sorted((root / "bench").glob("*.py"))
    contents += sorted((root / "bench" / "results").glob("*.json"))
    contents += sorted((root / "data" / "reported").glob("*.csv"))
    runs = root / "data" / "runs"
    names = (chapter.id, calibration.CHAPTER, *chapter.borrows)
    bundles = [runs / name for name in names]
    if parameters.get("source") == "published":
        bundles.append(root / "data" / "published")
    listing = [
        (file.relative_to(root).as_posix(), file.stat().st_size)
        for folder in dict.fromkeys(bundles)
        for file in _list_files(folder)
    ]
    hashes = [hashlib.sha256(file.read_bytes()).hexdigest() for file in contents if file.is_file()]
    placed = [found] if (found := inventory_fingerprint()) else []
    return hash_json([dict(parameters), hashes, listing, *placed, *(["so far"] if so_far else [])])


def list_harness() -> list[Path]:
    """Return the modules of the package that belong to no chapter."""
    return [file for file in sorted(_PACKAGE.rglob("*.py")) if _ROOMS not in file.parents]


def list_rooms(notebook: Path) -> list[Path]:
    """Return the modules of the rooms that a template enters; all of them where it cannot be read.

    Raises OSError, and ValueError for what is no notebook.
    """
    try:
        rooms = {*_entered(notebook)}
    except SyntaxError:
        return sorted(_ROOMS.rglob("*.py"))
    files = (file for room in sorted(rooms) for file in sorted((_ROOMS / room).rglob("*.py")))
    return [*files, *(file for room in sorted(rooms) if (file := _ROOMS / f"{room}.py").is_file())]


def _entered(notebook: Path) -> Iterator[str]:
    """Yield the names of the rooms that the cells of a notebook import. Raises SyntaxError."""
    inside = "sizebook.chapters."
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        for node in ast.walk(ast.parse("".join(cell["source"]))):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [each.name for each in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{each.name}" for each in node.names]
            yield from (
                name.removeprefix(inside).partition(".")[0]
                for name in names
                if name.startswith(inside)
            )


def _list_load(folder: Path) -> list[Path]:
    return [each for each in _list_files(folder) if "__pycache__" not in each.parts]


def _list_files(folder: Path) -> list[Path]:
    return sorted(each for each in folder.rglob("*") if each.is_file())
