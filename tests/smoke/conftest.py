"""A copy of the project in which chapters are measured, so that tests leave nothing behind."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.working_copy import ROOT, copy_project

from sizebook.book.chapters import find_chapters, get_chapter


class Copy:
    """A working copy of the project with its own state, runs and pages."""

    def __init__(self, root):
        self.root = root

    def sizebook(self, *arguments, env=None, check=None, timeout=1800):
        """Run the command line in the copy; ``check`` is the exit code that is expected."""
        done = subprocess.run(
            [sys.executable, "-m", "sizebook.cli", *arguments],
            cwd=self.root,
            env={**os.environ, "SIZEBOOK_ROOT": str(self.root), **(env or {})},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        if check is not None:
            assert done.returncode == check, f"{arguments}: {done.stdout}\n{done.stderr}"
        return done

    def bundles(self, chapter):
        """Return the names of a chapter's bundles."""
        return sorted(path.parent.name for path in self.runs(chapter).glob("*/trial.json"))

    def runs(self, chapter):
        """Return the folder of a chapter's bundles."""
        return self.root / "data" / "runs" / chapter

    def page(self, chapter):
        """Return where the executed notebook of a chapter is."""
        return self.root / "book" / "chapters" / f"{chapter}.ipynb"


class Measured(Copy):
    """A copy that runs the smoke profile of a chapter when somebody asks for what it left."""

    def __init__(self, root):
        super().__init__(root)
        self.first_run = None
        """What running all chapters printed, if they were run in one go."""
        self._measured = set()
        self._chapters = {chapter.id for chapter in find_chapters(root)}

    def runs(self, chapter):
        self._measure(chapter)
        return super().runs(chapter)

    def page(self, chapter):
        self._measure(chapter)
        return super().page(chapter)

    def run_all(self):
        """Run every chapter in one go, once."""
        if self.first_run is None:
            self.first_run = self.sizebook("run", "--profile", "smoke", check=0, timeout=7200)
            self._measured |= self._chapters

    def _measure(self, chapter):
        """Run a chapter, after those whose trials it reads, unless that was done."""
        if chapter not in self._chapters - self._measured:
            return
        self._measured.add(chapter)
        for lender in get_chapter(self.root, chapter).borrows:
            self._measure(lender)
        self.sizebook("run", chapter, "--profile", "smoke", check=0, timeout=3600)


def make_copy(folder: Path, kind=Copy) -> Copy:
    """Copy what git tracks, and link what set-up made: the stack's build, unpacked programs."""
    copy_project(folder)
    (folder / ".sizebook").mkdir()
    for made in ("stack/target", ".sizebook/programs"):
        (folder / made).symlink_to(ROOT / made)
    return kind(folder)


@pytest.fixture(scope="module")
def copied_project(tmp_path_factory):
    """A copy in which nothing has been measured yet."""
    return make_copy(tmp_path_factory.mktemp("copy"))


@pytest.fixture(scope="session")
def project(request, tmp_path_factory):
    """One copy for all; each chapter is measured when a test asks for it.

    Where a test that will run wants all of them, they are run in one go, and nothing twice.
    """
    copy = make_copy(tmp_path_factory.mktemp("project"), Measured)
    if any("whole" in getattr(item, "fixturenames", ()) for item in request.session.items):
        copy.run_all()
    return copy


@pytest.fixture(scope="session")
def whole(project):
    """The same copy, in which the smoke profile of every chapter has been run."""
    return project


class Site:
    """The book built from that copy."""

    def __init__(self, root, said):
        self.root = root
        self.said = said
        """What building it printed."""

    def read(self):
        """Return each file by its name."""
        files = (path for path in self.root.rglob("*") if path.is_file())
        return {path.relative_to(self.root).as_posix(): path.read_bytes() for path in files}


@pytest.fixture(scope="session")
def site(whole):
    """The site of the smoke profile of every chapter."""
    done = whole.sizebook("build", check=0)
    return Site(whole.root / "_build" / "html", done.stdout)
