"""What a test needs beside Python: markers by folder and module, and a watch that enforces them.

``OF`` names what the tests of a folder, of a module or with a fixture need; a test may add a marker
of its own. Every test is watched: it fails if it, or any process that it started, starts a program
of a need that is not among its markers. So ``-m "not jvm"`` starts none.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parent
NEEDS = {
    "jvm": "starts a Java virtual machine",
    "database": "starts PostgreSQL",
    "browser": "starts Chromium",
    "root": "as root makes networks, control groups, file systems, other users' processes",
    "measure": "starts a load generator, or holds the machine for a measurement",
    "site": "builds a site, runs a notebook in a kernel, or asks an outside validator",
}
PROGRAMS = {
    "java": "jvm",
    "javac": "jvm",
    "mvn": "jvm",
    "postgres": "database",
    "initdb": "database",
    "chromium": "browser",
    "chrome": "browser",
    "chrome-headless-shell": "browser",
    "ip": "root",
    "mount": "root",
    "nsenter": "root",
    "runc": "root",
    "runsc": "root",
    "setpriv": "root",
    "tc": "root",
}
"""Name of a program, and the need of a test that starts it."""
TOLD_BY = {
    "sizebook.load.generator": "measure",
    "sizebook.load.worker": "measure",
    "ipykernel_launcher": "site",
    "sphinx": "site",
    "validate_crate.py": "site",
}
"""Module or script that Python runs, and the need of a test that starts it."""
SITE_BUILD = "from jupyter_book.cli.main import main"
LOCKED = ("time:[", "user:[")
"""How the name of what a measurement locks begins: a namespace of the kernel."""
FIRST_WORDS = 12
"""Of a command line: among them is the program, even where others (``unshare -U``) start it."""
LOOK_EVERY_S = 0.1
LOOKS_AT_NEW = 10
"""In a row at each new process, and from one look at all to the next."""

OF: dict[str, tuple[str, ...]] = {
    "@audited_root": ("site",),
    "adversary": ("site",),
    "adversary/test_measurement_lock.py": ("measure", "root"),
    "bench/test_nullserver.py/@ask": ("jvm",),
    "bench/test_pairing.py": ("root",),
    "audit/test_taken.py": ("database", "jvm", "site"),
    "bench/test_truth.py/@rig": ("jvm", "measure"),
    "bench/test_turns.py": ("jvm", "measure", "root"),
    "book/@browser": ("browser",),
    "book/@sample_root": ("site",),
    "book/@trials_root": ("site",),
    "book/@whole_root": ("site",),
    "book/test_own_book.py": ("measure",),
    "book/test_paper.py": ("browser", "site"),
    "book/test_site.py": ("site",),
    "book/test_standing.py": ("site",),
    "book/test_beside.py": ("site",),
    "book/test_calculator.py": ("browser", "site"),
    "book/test_claims.py": ("site",),
    "book/test_compare.py": ("site",),
    "book/test_crate.py": ("site",),
    "book/test_notebooks.py": ("site",),
    "book/test_planning.py": ("site",),
    "book/test_reproductions.py": ("site",),
    "book/test_hostile.py": ("browser", "site"),
    "book/test_rounds.py": ("site",),
    "cli/test_own_locustfile.py": ("measure",),
    "gclog/test_live.py": ("jvm",),
    "hosts/test_cgroups.py": ("root",),
    "hosts/test_contract.py": ("root",),
    "hosts/test_image.py": ("jvm", "root"),
    "hosts/test_modes.py": ("root",),
    "hosts/test_network.py": ("root",),
    "hosts/test_paging.py": ("root",),
    "hosts/test_preparing.py": ("root",),
    "hosts/test_ssh.py": ("root",),
    "hosts/test_uml.py": ("root",),
    "hosts/test_wires.py": ("root",),
    "java": ("database", "jvm"),
    "lab/test_modes.py": ("measure", "root"),
    "load/@generator": ("measure",),
    "load/@own": ("measure",),
    "load/test_data_files.py": ("measure",),
    "load/test_failures.py": ("measure",),
    "load/test_fence.py": ("measure",),
    "load/test_spread.py": ("jvm", "measure", "root"),
    "load/test_workers.py": ("measure",),
    "traffic/test_running.py": ("measure",),
    "probes/test_jvm.py": ("jvm",),
    "probes/test_native_memory.py": ("jvm",),
    "probes/test_postgres.py": ("database", "root"),
    "smoke": ("browser", "database", "jvm", "measure", "root", "site"),
    "stack": ("database", "jvm", "measure", "root"),
}
"""Folder, module, or fixture (``@name``) of one, and what the tests of it need."""


def needs_of(item: pytest.Item) -> set[str]:
    """Return what a test needs by its place, and by the fixtures that it uses."""
    inner = Path(os.path.relpath(item.path, TESTS))
    places = [place.as_posix() for place in (inner, *inner.parents)]
    fixtures = [f"@{fixture}" for fixture in getattr(item, "fixturenames", ())]
    places += [f"{place}/{fixture}" for place in places for fixture in fixtures] + fixtures
    return {need for place in places for need in OF.get(place, ())}


def needs_of_command(words: Iterable[str]) -> set[str]:
    """Return what a test needs that runs this command line."""
    first = [str(word) for word in words][:FIRST_WORDS]
    names = {Path(word).name for word in first}
    found = {need for name, need in (TOLD_BY | PROGRAMS).items() if name in names}
    return found | {"site" for word in first if SITE_BUILD in word}


@dataclass
class Watch:
    """Notes what is started from now on: by this process as it happens, by others soon after."""

    seen: list[tuple[str, str]] = field(default_factory=list)
    """Needs, each with the command line that tells of it."""
    _known: set[tuple[int, str]] = field(default_factory=set)

    def start(self) -> None:
        """Begin; there is no end before that of the process."""
        sys.addaudithook(self._hear)
        if Path("/proc/self/stat").exists():
            threading.Thread(target=self._look_on, name="needs", daemon=True).start()

    def take(self) -> list[tuple[str, str]]:
        """Return what was noted since this was asked last."""
        if Path("/proc/self/stat").exists():
            self._look()
        taken, self.seen = self.seen, []
        return taken

    def _note(self, words: Iterable[str]) -> None:
        words = [os.fsdecode(word) for word in words]
        self.seen += [(need, " ".join(words)[:200]) for need in needs_of_command(words)]

    def _hear(self, event: str, given: tuple[Any, ...]) -> None:
        if event in ("subprocess.Popen", "os.posix_spawn", "os.exec"):
            words = given[1]
            self._note([words] if isinstance(words, (str, bytes, os.PathLike)) else words)
        elif event == "os.system":
            self._note(os.fsdecode(given[0]).split())
        elif event == "fcntl.flock":
            try:
                path = Path(f"/proc/self/fd/{int(given[0])}").readlink()
            except OSError:
                return
            if path.name.startswith(LOCKED):
                self.seen.append(("measure", f"a lock of {path}"))

    def _look_on(self) -> None:
        """Look ten times a second at what is new and begun by this process, each second at all.

        On a busy machine processes come and go all the time: to list all that this one started
        whenever there is another took several seconds of CPU a minute.
        """
        pause, before = threading.Event(), _processes()
        own, young = set[int](), dict[int, int]()
        for number in itertools.count():
            if pause.wait(LOOK_EVERY_S):
                return
            now = _processes()
            if number % LOOKS_AT_NEW == 0:
                own = set(_descendants())
                self._note_all(own)
            found = _begun_by(own | {os.getpid()}, now - before)
            before, own = now, own | found
            # what began a moment ago may become another program
            left = {pid: looks - 1 for pid, looks in young.items() if looks > 1}
            young = left | dict.fromkeys(found, LOOKS_AT_NEW)
            self._note_all(young)

    def _look(self) -> None:
        self._note_all(_descendants())

    def _note_all(self, pids: Iterable[int]) -> None:
        for pid in pids:
            try:
                words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if (pid, words) not in self._known:
                self._known.add((pid, words))
                self._note(words.split("\0"))


def _processes() -> set[int]:
    return {int(entry.name) for entry in os.scandir("/proc") if entry.name.isdigit()}


def _begun_by(own: set[int], new: set[int]) -> set[int]:
    """Return which of the new processes ``own`` ones have started, or those that they started."""
    parents = {pid: parent for pid in new if (parent := _parent_of(pid)) is not None}
    found = set[int]()
    while more := {pid for pid in parents.keys() - found if parents[pid] in own | found}:
        found |= more
    return found


def _parent_of(pid: int) -> int | None:
    try:
        return int(
            Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[1]
        )
    except OSError:
        return None


def _descendants() -> Iterator[int]:
    """Give the ids of all processes that this one started, and of those that they started."""
    children = _listed if Path(f"/proc/self/task/{os.getpid()}/children").exists() else _searched()
    due = [os.getpid()]
    while due:
        own = children(due.pop())
        yield from own
        due += own


def _listed(pid: int) -> list[int]:
    """Return the children of a process, as the kernel lists them for each of its threads."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.scandir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError):  # it ended meanwhile
                found += map(int, Path(thread.path, "children").read_text().split())
    return found


def _searched() -> Callable[[int], list[int]]:
    """Return the same of a kernel without such lists: by the parents of all processes."""
    children: dict[int, list[int]] = {}
    for pid in _processes():
        if (parent := _parent_of(pid)) is not None:
            children.setdefault(parent, []).append(pid)
    return lambda pid: children.get(pid, [])


WATCH = Watch()


def pytest_configure(config: pytest.Config) -> None:
    """Make the markers known; watch from here on in each process that runs tests."""
    for need, meaning in NEEDS.items():
        config.addinivalue_line("markers", f"{need}: {meaning}")
    is_controller = getattr(config.option, "dist", "no") != "no" and not hasattr(
        config, "workerinput"
    )
    if not is_controller:
        WATCH.start()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test with the needs of its module."""
    for item in items:
        for need in sorted(needs_of(item)):
            item.add_marker(need)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Forget what the end of an earlier module's fixtures started: it is no need of this test."""
    WATCH.take()


@pytest.fixture(autouse=True)
def starts_what_it_needs(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that starts what its markers do not name."""
    yield
    has = {marker.name for marker in request.node.iter_markers()}
    missing = [f"{need} ({command})" for need, command in WATCH.take() if need not in has]
    assert not missing, (
        f"needs {', '.join(sorted(set(missing)))}, and has no such marker: "
        "mark it, or name its module in tests/needs.py"
    )
