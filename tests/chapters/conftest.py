"""A copy of the project in which chapters are measured, so that tests leave nothing behind."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


class Copy:
    """A working copy of the project with its own state, runs and pages."""

    def __init__(self, root):
        self.root = root

    def sizebook(self, *arguments, env=None, check=None, timeout=600):
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


def make_copy(folder: Path) -> Copy:
    """Copy what git tracks, and link what set-up made: the stack's build, unpacked programs."""
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in names.splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    (folder / ".sizebook").mkdir()
    for made in ("stack/target", ".sizebook/programs"):
        (folder / made).symlink_to(ROOT / made)
    return Copy(folder)


@pytest.fixture(scope="module")
def copied_project(tmp_path_factory):
    """A copy in which nothing has been measured yet."""
    return make_copy(tmp_path_factory.mktemp("copy"))


@pytest.fixture(scope="session")
def project(tmp_path_factory):
    """One copy, in which the smoke profile of every chapter has been run."""
    copy = make_copy(tmp_path_factory.mktemp("project"))
    copy.first_run = copy.sizebook("run", "--profile", "smoke", check=0, timeout=3600)
    return copy


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
def site(project):
    """The site of the smoke profile of every chapter."""
    done = project.sizebook("build", check=0)
    return Site(project.root / "_build" / "html", done.stdout)
