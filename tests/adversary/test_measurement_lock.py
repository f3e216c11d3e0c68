"""Two measurements at a time on one machine, by every trick; the lock writes over nothing."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from sizebook.store.lock import NOT_ALONE, machine_wide

HOLD = """
import sys
from sizebook.model.errors import MeasurementLockedError
from sizebook.store import measurement_lock
try:
    with measurement_lock("a test"):
        print("held", flush=True)
        sys.stdin.read()
except MeasurementLockedError:
    print("refused", flush=True)
"""


def hold(*prefix, **environment):
    """Start a process that takes the machine's lock, and stays if it got it."""
    return subprocess.Popen(
        [*prefix, sys.executable, "-c", HOLD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


def allowed(*prefix):
    """Return whether this user may start a process so."""
    if shutil.which(prefix[0]) is None:
        return False
    return subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0


@pytest.fixture
def apart_from_all():
    """Return how to get into a time of one's own, where no real measurement can be."""
    apart = ["unshare", "--time"] if os.geteuid() == 0 else ["unshare", "-r", "--time"]
    if not allowed(*apart):
        pytest.skip("this user cannot have a time namespace, which keeps the test off the machine")
    return [*apart, "--fork", sys.executable, "-c", INSIDE]


INSIDE = """
import json, os, subprocess, sys
from pathlib import Path
tricks, script = json.loads(sys.argv[1]), sys.argv[2]
def hold(prefix, environment):
    return subprocess.Popen([*prefix, sys.executable, "-c", script], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True, env={**os.environ, **environment})
first = hold([], {})
answers = {"first": first.stdout.readline().strip()}
for name, (prefix, environment) in tricks.items():
    other = hold(prefix, environment)
    answers[name] = other.stdout.readline().strip()
    other.kill()
    other.wait()
first.kill()
first.wait()
again = hold([], {})
answers["afterwards"] = again.stdout.readline().strip()
again.kill()
print(json.dumps(answers))
"""


def test_no_trick_holds_the_machine_twice(apart_from_all, tmp_path, monkeypatch):
    """Another temporary folder, user, network, file system, host name, or process numbers."""
    monkeypatch.delenv(NOT_ALONE)
    tricks = {
        "temporary folder": ([], {"TMPDIR": str(tmp_path)}),
        "home": ([], {"HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)}),
        "beside": ([], {NOT_ALONE: "1"}),
    }
    if os.geteuid() == 0:
        ordinary = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        ordinary += ["--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search"]
        tricks["user"] = (ordinary, {})
        container = ["unshare", "--net", "--mount", "--uts", "--ipc", "--cgroup", "--pid", "--fork"]
        tricks["container"] = ([*container, "--mount-proc"], {})
        tricks["user namespace"] = (["unshare", "--user", "--map-root-user"], {})
    tricks = {name: trick for name, trick in tricks.items() if not trick[0] or allowed(*trick[0])}
    done = subprocess.run(
        [*apart_from_all, json.dumps(tricks), HOLD], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout)
    refused = dict.fromkeys(tricks, "refused")
    assert answers == {"first": "held", "afterwards": "held", **refused}


def test_nothing_stands_where_the_lock_could_write_over_it():
    """It is a thing of the kernel's: no file, opened for reading, that no link can stand for."""
    place = machine_wide()
    assert place.stat().st_size == 0
    with pytest.raises(OSError):
        os.open(place, os.O_RDWR)
    with pytest.raises(OSError):
        place.unlink()


def test_a_file_at_the_old_place_stays_as_it_is(tmp_path, monkeypatch):
    """A link among temporary files that is called like a lock leads nobody astray."""
    monkeypatch.setenv(NOT_ALONE, "1")
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / "sizebook-measurement.lock").symlink_to(victim)
    process = hold(TMPDIR=str(tmp_path))
    said = process.stdout.readline().strip()
    process.kill()
    process.communicate()
    assert said in ("held", "refused")
    assert victim.read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "sizebook-measurement.lock",
        "victim",
    ]
