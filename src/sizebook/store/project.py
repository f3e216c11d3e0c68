"""Where the parts of a Sizebook project are on disk."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from sizebook.model.errors import UsageError


@dataclass(frozen=True)
class Project:
    """The folders of one checkout; building it touches no disk."""

    root: Path
    own_load: Path | None = None
    """Folder of a locustfile of the user's own, which lies anywhere and is measured without a
    chapter; None: load profiles are the project's."""

    @property
    def notebooks(self) -> Path:
        """Parameterised notebooks, one a chapter."""
        return self.root / "notebooks"

    @property
    def book(self) -> Path:
        """Pages of the book; executed notebooks in ``chapters/`` below."""
        return self.root / "book"

    @property
    def chapters(self) -> Path:
        """Executed notebooks."""
        return self.book / "chapters"

    @property
    def locustfiles(self) -> Path:
        """Load profiles."""
        return self.own_load or self.root / "locustfiles"

    @property
    def stack(self) -> Path:
        """The reference stack's Maven module."""
        return self.root / "stack"

    @property
    def runs(self) -> Path:
        """Own bundles, one folder a chapter."""
        return self.root / "data" / "runs"

    @property
    def published(self) -> Path:
        """Bundles that came with the book."""
        return self.root / "data" / "published"

    @property
    def site(self) -> Path:
        """The built site."""
        return self.root / "_build" / "html"

    @property
    def state(self) -> Path:
        """What may be deleted at any time: templates of clusters, archives, ledgers, logs."""
        return self.root / ".sizebook"


def find_project(start: Path | None = None) -> Project:
    """Return the project that holds ``start`` (default: ``SIZEBOOK_ROOT`` or the current folder).

    Raises UsageError if no folder on the way up holds ``_config.yml`` and ``notebooks/``.
    """
    given = os.environ.get("SIZEBOOK_ROOT")
    folder = (start or (Path(given) if given else Path.cwd())).resolve()
    for candidate in (folder, *folder.parents):
        if (candidate / "_config.yml").is_file() and (candidate / "notebooks").is_dir():
            return Project(candidate)
    raise UsageError(
        found=f"no Sizebook project at or above {folder}",
        expected="a folder with _config.yml and notebooks/",
        next_step="change into a checkout, or set SIZEBOOK_ROOT to one",
    )
