"""kill -9 at any moment of a run: what is finished stays, the rest is measured once, no process."""

import os
import random
import runpy
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import psutil
import pytest
from tests.waiting import still_alive

from sizebook.store import find_bundles, measurement_lock, open_bundle
from sizebook.store.bundles import verify_bundle

SCRIPT = Path(__file__).with_name("tiny_run.py")
TINY = runpy.run_path(str(SCRIPT))
KILLS = 20


@pytest.fixture(scope="module")
def copy(copied_project):
    """A copy of the project in which one plan was measured, so that all caches are there."""
    copied_project.temporary = copied_project.root / ".temporary"
    run = Run(copied_project, [0])
    assert run.process.wait(300) == 0, run.said()
    return copied_project


class Run:
    """A run in a process of its own, and all processes that it was seen to start."""

    def __init__(self, copy, seeds, kill_at=""):
        copy.temporary.mkdir(exist_ok=True)
        environment = {"SIZEBOOK_ROOT": str(copy.root), "TMPDIR": str(copy.temporary)}
        self.errors = copy.temporary / "errors.txt"
        with self.errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, str(SCRIPT), *map(str, seeds)],
                cwd=copy.root,
                env={**os.environ, **environment, "KILL_AT": kill_at},
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        self.family = {}

    def follow(self, seconds):
        """Note the run's processes until the time is over or it has ended."""
        deadline = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < deadline:
            self.note()
            time.sleep(min(0.02, max(0.0, deadline - time.monotonic())))

    def note(self):
        """Note the processes that there are now."""
        try:
            children = psutil.Process(self.process.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return
        self.family |= {child.pid: child for child in children}

    def said(self):
        """Return what the run wrote to standard error."""
        return self.errors.read_text()


def check(copy, known):
    """Every bundle is whole and none of ``known`` is gone; return the names there are now."""
    names = {path.name for path in find_bundles(copy.runs("tiny"))}
    assert known <= names
    for name in names - known:
        bundle = open_bundle(copy.runs("tiny") / name)
        verify_bundle(bundle)
        assert bundle.record.outcome == "completed", bundle.record.failure
    return names


def finish(copy, seeds):
    """Run to the end; every planned trial is there once, and nothing else is left.

    A run killed after its last trial leaves its folders to the next that measures: the last of
    the seeds is one that was never run.
    """
    run = Run(copy, seeds)
    assert run.process.wait(300) == 0, run.said()
    records = [open_bundle(path).record for path in find_bundles(copy.runs("tiny"))]
    measured = Counter(r.trial.canonical_json() for r in records if r.trial.purpose == "measured")
    sessions = [session for seed in (0, *seeds) for session in TINY["plan"](seed)]
    planned = {spec.canonical_json() for session in sessions for spec in session.trials}
    assert {text for text in measured if text in planned} == planned
    assert set(measured.values()) == {1}
    assert [path.name for path in copy.runs("tiny").iterdir() if path.name.startswith(".")] == []
    state = copy.root / ".sizebook"
    assert list((state / "run").glob("*")) == []
    assert list((state / "guard").glob("*")) == []
    with measurement_lock("a test", state):
        pass


def gone(families):
    """Return the processes that still live, after the guards had time to end them."""
    return still_alive([process for family in families for process in family.values()])


def test_runs_killed_at_random_moments_lose_nothing_and_count_nothing_twice(copy):
    """Twenty kills, drawn over start, trials, writing and end; each run goes on at once."""
    moments = random.Random(20)
    known, families, killed, seed = check(copy, set()), [], 0, 1
    while killed < KILLS:
        run = Run(copy, [seed])
        run.process.stdout.readline()
        run.follow(moments.uniform(0.0, 2.5))
        if run.process.poll() is not None:
            assert run.process.returncode == 0, run.said()
            seed += 1
        else:
            run.note()
            run.process.kill()
            run.process.wait()
            killed += 1
        families.append(run.family)
        known = check(copy, known)
    assert gone(families) == []
    finish(copy, range(1, seed + 2))  # one with trials to measure, which cleans up
    check(copy, known)


DELICATE = {
    "started, not registered": "sizebook.hosts.guard:Guard.register:before:2",
    "a bundle half written": "sizebook.store.writing:BundleWriter.table:after:3",
    "a bundle not durable": "sizebook.store.writing:_sync:before:2",
    "a bundle just renamed": "sizebook.store.writing:BundleWriter.commit:after:2",
    "all done, not ended": "sizebook.load.control:GeneratorClient.stop:before:1",
}


def test_a_run_killed_at_delicate_moments_loses_nothing(copy):
    """Between starting and registering, in a bundle, after its renaming, at the very end."""
    known, families, seed = check(copy, set()), [], 100
    for moment, place in DELICATE.items():
        run = Run(copy, [seed], kill_at=place)
        run.follow(120)
        assert run.process.wait(1) == -9, f"{moment}: {run.said()}"
        families.append(run.family)
        known = check(copy, known)
    finish(copy, [seed, seed + 1])  # one with trials to measure, which cleans up
    check(copy, known)
    assert gone(families) == []
