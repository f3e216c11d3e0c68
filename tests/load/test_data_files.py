"""What a locustfile reads is told by name and checksum, whenever and however it is read."""

from __future__ import annotations

import hashlib
import shutil
import sys
from pathlib import Path

import pytest

from sizebook.load.control import GeneratorClient
from sizebook.load.data_files import ABSENT, differing, is_inside, print_files
from sizebook.load.workers import Workers
from sizebook.model.errors import LocustfileError, TrialError
from sizebook.model.load import ClosedLoop, LoadProfile, Phases

LOAD = """
import csv, glob, json
from pathlib import Path

import parts.bodies
from helper_of_test import PATHS
from sizebook.load.users import Expect, LeanHttpUser

HERE = Path(__file__).parent
ROWS = list(csv.reader(open("people.csv")))
for each in sorted(glob.glob("templates/*.txt")):
    Path(each).read_text()
open("written.log", "w").write("x")

class Reader(LeanHttpUser):
    @classmethod
    def set_up(cls, setup):
        return (HERE.parent / "shared" / "set-up.json").read_bytes()

    def iteration(self):
        with open(f"late-{len(PATHS)}.csv") as late:
            late.read()
        self.get("/", name="page", check=Expect())
"""


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a locustfile that reads in every way."""
    files = {
        "locustfiles/reads.py": LOAD,
        "locustfiles/helper_of_test.py": "from second_of_test import PATHS\n",
        "locustfiles/second_of_test.py": "PATHS = ['/']\n",
        "locustfiles/parts/bodies.py": "BODY = b'x'\n",
        "locustfiles/people.csv": "ann\n",
        "locustfiles/late-1.csv": "late\n",
        "locustfiles/templates/a.txt": "a",
        "locustfiles/unread.csv": "never\n",
        "shared/set-up.json": "{}",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def profile(name: str = "reads.py", workers: int = 1) -> LoadProfile:
    phases = Phases(warmup_s=0.1, measured_s=0.2, drain_s=0.5)
    return LoadProfile(
        locustfile=name, arrivals=ClosedLoop(users=2), phases=phases, workers=workers
    )


@pytest.fixture
def generator(host, project, tmp_path):
    folder = project / "locustfiles"
    with GeneratorClient(host, sys.executable, tmp_path, locustfiles=folder) as running:
        yield running


READ = {
    "locustfiles/helper_of_test.py": sha("from second_of_test import PATHS\n"),
    "locustfiles/second_of_test.py": sha("PATHS = ['/']\n"),
    "locustfiles/parts/bodies.py": sha("BODY = b'x'\n"),
    "locustfiles/people.csv": sha("ann\n"),
    "locustfiles/templates/": sha("a.txt"),
    "locustfiles/templates/a.txt": sha("a"),
    "shared/set-up.json": sha("{}"),
}
LATE = {"locustfiles/late-1.csv": sha("late\n")}


def test_all_that_is_read_is_told_in_every_trial(generator, server, project, tmp_path):
    """Modules, theirs, data, listed folders and reads amid the load; nothing of Python's own.

    A later trial of the same process tells them again, although Python has the modules by then.
    """
    for trial in range(2):
        generator.prepare(profile(), {"app": server.url}, tmp_path / f"out-{trial}")
        assert generator.read == READ
        generator.run()
        assert generator.read == READ | LATE
    assert print_files(project, generator.read) == generator.read


def test_what_the_next_trial_reads_is_as_it_is_then(generator, server, project, tmp_path):
    """A module that was changed between two trials counts as it is now, not as it was imported."""
    generator.prepare(profile(), {"app": server.url}, tmp_path / "one")
    (project / "locustfiles" / "second_of_test.py").write_text("PATHS = ['/', '/b']\n")
    generator.prepare(profile(), {"app": server.url}, tmp_path / "two")
    changed = differing(READ, generator.read)
    assert changed == ["locustfiles/second_of_test.py"]
    with pytest.raises(TrialError, match=r"late-2\.csv"):
        generator.run()
    assert generator.read["locustfiles/late-2.csv"] == ABSENT


def test_what_is_missing_is_told_with_the_error(generator, server, project, tmp_path):
    """The file that was looked for is named with its place, so that it is missed no longer then."""
    (project / "locustfiles" / "people.csv").unlink()
    with pytest.raises(LocustfileError, match=r"put the file beside reads\.py"):
        generator.prepare(profile(), {"app": server.url}, tmp_path / "out")
    assert generator.read["locustfiles/people.csv"] == ABSENT
    (project / "locustfiles" / "people.csv").write_text("ann\n")
    generator.prepare(profile(), {"app": server.url}, tmp_path / "out")
    assert generator.read == READ


def test_a_locustfile_that_reads_nothing_tells_nothing(generator, server, project, tmp_path):
    """Python's own files, packages and the harness are no load data; nor are earlier trials'."""
    generator.prepare(profile(), {"app": server.url}, tmp_path / "one")
    plain = "import email.mime.text, requests, sizebook.load.documents\n"
    plain += LOAD[LOAD.index("from sizebook") : LOAD.index("HERE")]
    plain += "class Reader(LeanHttpUser):\n    def iteration(self):\n"
    plain += "        self.get('/', name='page', check=Expect())\n"
    (project / "locustfiles" / "plain.py").write_text(plain)
    generator.prepare(profile("plain.py"), {"app": server.url}, tmp_path / "two")
    generator.run()
    assert generator.read == {}


def test_workers_tell_together(host, project, server, tmp_path):
    """What any worker has read counts, of this load alone."""
    folder = project / "locustfiles"
    with Workers(host, sys.executable, tmp_path, workers=2, locustfiles=folder) as group:
        group.prepare(profile(workers=2), {"app": server.url}, tmp_path / "out")
        group.run()
        assert group.read == READ | LATE
    shutil.rmtree(folder / "templates")
    assert print_files(project, ["locustfiles/templates/"]) == {"locustfiles/templates/": ABSENT}


def test_names_outside_the_project():
    """They are told apart, for another machine has them not."""
    assert [is_inside(each) for each in ("locustfiles/a.csv", "/srv/a.csv", "~/a.csv")] == [
        True, False, False,
    ]  # fmt: skip
