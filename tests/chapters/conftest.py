"""A copy of the project in which chapters are measured, so that tests leave nothing behind."""

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sizebook.book.chapters import find_chapters

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
    """One copy, in which the smoke profile of every chapter has been run.

    Smoke numbers mean nothing, so that two runs may disturb each other: half of the parts are
    measured in a second copy, at the same time, and then taken over. Calibration is shared.
    """
    project, beside = (make_copy(tmp_path_factory.mktemp(name)) for name in ("project", "beside"))
    smoke = ("--profile", "smoke")
    first = project.sizebook("run", "calibration", *smoke, check=0)
    shutil.copytree(project.runs("calibration"), beside.runs("calibration"))
    ours, theirs = _halves(project.root)
    with ThreadPoolExecutor(1) as pool, tempfile.TemporaryDirectory(prefix="sb-") as temporary:
        of_its_own = {"TMPDIR": temporary}  # one measures at a time by a lock that lies in there
        later = pool.submit(beside.sizebook, "run", *theirs, *smoke, env=of_its_own, timeout=2400)
        done = project.sizebook("run", *ours, *smoke, timeout=2400)
        project.first_runs = (first, done, later.result())
    for run in project.first_runs:
        assert run.returncode == 0, f"{run.args}: {run.stdout}\n{run.stderr}"
    for chapter in theirs:
        for made in (beside.runs(chapter), beside.root / "book" / "chapters" / f"{chapter}.ipynb"):
            if made.exists():
                shutil.move(made, project.root / made.relative_to(beside.root))
    return project


def _halves(root):
    """Return two lists of chapters that take about as long as each other; no part is divided."""
    chapters = [chapter for chapter in find_chapters(root) if chapter.id != "calibration"]
    later = [chapter.id for chapter in chapters if chapter.part.split()[0] in ("III", "IV", "V")]
    return [chapter.id for chapter in chapters if chapter.id not in later], later
