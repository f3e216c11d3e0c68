"""A chapter tried in its shortest form, in a copy of its project that leaves nothing behind."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from sizebook.book.chapters import get_chapter
from sizebook.hosts.mortal import mortal
from sizebook.model.errors import TrialError
from sizebook.store import Bundle, Project, find_bundles, open_bundle

_OWN = ("book", "data", "notebooks", "_build", ".sizebook", ".git")
"""What the copy has of its own; all else is the project's."""


def try_chapter(
    root: Path, chapter_id: str, folder: Path, inventory: Path | None = None
) -> list[Bundle]:
    """Measure the smoke profile of a chapter in ``folder``; return the bundles of its trials.

    Its page is executed too: ``folder/book/chapters/ID.ipynb``. Raises UsageError for a chapter
    that there is not, TrialError with what the command said if the run fails.
    """
    chapter = get_chapter(root, chapter_id)
    copy = Project(folder.resolve())
    for entry in root.iterdir():
        if entry.name not in _OWN:
            (copy.root / entry.name).symlink_to(entry.resolve())
    for name in ("notebooks", "data", ".sizebook"):
        (copy.root / name).mkdir()
    shutil.copy(chapter.notebook, copy.notebooks)
    for inside in ("data/reported", "data/claims", ".sizebook/programs", ".sizebook/hosts"):
        if (root / inside).exists():
            (copy.root / inside).symlink_to((root / inside).resolve())
    command = [sys.executable, "-m", "sizebook.cli", "run", chapter_id, "--profile", "smoke"]
    command += ["--inventory", str(inventory)] if inventory is not None else []
    done = subprocess.run(
        mortal(command),
        cwd=copy.root,
        env={**os.environ, "SIZEBOOK_ROOT": str(copy.root)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise TrialError(
            found=f"chapter {chapter_id} failed: {done.stdout[-600:]} {done.stderr[-600:]}",
            expected="a chapter that runs in its shortest form",
            next_step=f"sizebook run {shlex.quote(chapter_id)} --profile smoke",
        )
    return [open_bundle(path) for path in find_bundles(copy.runs / chapter_id)]
