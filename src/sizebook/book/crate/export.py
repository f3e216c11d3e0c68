"""Write the present run as a crate: a folder or an archive, whole or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sizebook.book.crate.build import build_crate
from sizebook.book.crate.files import CrateFiles, FilesInPlace
from sizebook.book.crate.gather import gather_run
from sizebook.book.crate.preview import PREVIEW, render_preview
from sizebook.model.errors import UsageError
from sizebook.store import Project
from sizebook.store.named_paths import writing

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time that an archive can hold: files in it carry no time of their own."""


@dataclass(frozen=True)
class Exported:
    """What was written: the folder or archive, and how much it holds."""

    path: Path
    chapters: int
    bundles: int
    files: int
    bytes: int


def export_crate(
    root: Path, target: Path, ids: Sequence[str] = (), *, slim: bool = False
) -> Exported:
    """Write the present run to ``target``: an archive if its name ends in ``.zip``, else a folder.

    Equal runs give equal bytes. ``slim`` leaves out every trial's table of requests, as published
    bundles do: its histograms stay, but no page can be made again from it. Raises UsageError for
    a target that is there already (an empty folder is not) or inside the project's own data, and
    what ``gather_run`` and bundles raise.
    """
    _check_target(Project(root), target)
    run = gather_run(root, ids)
    with _draft(target) as draft:
        folder = draft / "crate"
        folder.mkdir()
        files = CrateFiles(folder, private=(str(root.resolve()), str(Path.home())))
        graph = build_crate(run, files, slim=slim)
        graph.write(folder)
        (folder / PREVIEW).write_text(render_preview(run, files.stored), encoding="utf-8")
        written = [file for file in sorted(folder.rglob("*")) if file.is_file()]
        size = sum(file.stat().st_size for file in written)
        if target.suffix == ".zip":
            _pack(folder, draft / "crate.zip")
            (draft / "crate.zip").rename(target)
        else:
            folder.rename(target)
    return Exported(target, len(run.chapters), len(run.bundles), len(written), size)


def describe_in_place(folder: Path) -> tuple[dict[str, Any], str]:
    """Return the metadata and the page that an export makes of a crate's own files.

    A crate is laid out as a project is. Writes nothing. Raises what ``gather_run`` raises.
    """
    run = gather_run(folder)
    files = FilesInPlace(folder)
    crate = build_crate(run, files, slim=False)
    return dict(crate.metadata.generate()), render_preview(run, files.stored)


def _check_target(project: Project, target: Path) -> None:
    place = target.resolve()
    own = (project.root / "data", project.book, project.notebooks, project.locustfiles)
    if any(place.is_relative_to(folder.resolve()) for folder in own):
        raise UsageError(
            found=f"{target} inside the project's own data",
            expected="a place outside data/, book/, notebooks/ and locustfiles/",
            next_step="choose another folder or archive",
        )
    is_there = os.path.lexists(target)
    if is_there and (target.is_symlink() or not target.is_dir() or any(target.iterdir())):
        raise UsageError(
            found=f"{target}, which is there already",
            expected="a new or empty folder, or a new .zip",
            next_step="choose another name, or remove it first",
        )
    if target.suffix == ".zip" and target.is_dir():
        raise UsageError(
            found=f"the folder {target}", expected="a new .zip", next_step="choose another name"
        )


@contextlib.contextmanager
def _draft(target: Path) -> Iterator[Path]:
    """Give a hidden folder beside the target; whatever happens it is gone afterwards."""
    draft = target.parent / f".{target.name}.partial"
    try:
        with writing(target, "free room or choose another place; --slim needs far less"):
            shutil.rmtree(draft, ignore_errors=True)
            draft.mkdir(parents=True)
            yield draft
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _pack(folder: Path, archive: Path) -> None:
    """Write a folder's contents into an archive: sorted, without times or owners.

    Folders are entries of their own: without them the validator misses every dataset.
    """
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder).as_posix()
            if path.is_dir():
                entry = zipfile.ZipInfo(f"{name}/", _EPOCH)
                entry.external_attr = (0o40755 << 16) | 0x10
                packed.writestr(entry, b"")
            else:
                entry = zipfile.ZipInfo(name, _EPOCH)
                entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o100644 << 16
                with path.open("rb") as given, packed.open(entry, "w", force_zip64=True) as taken:
                    shutil.copyfileobj(given, taken)
