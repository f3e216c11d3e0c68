import subprocess
import sys

import pytest

from sizebook.model.errors import MeasurementLockedError, UsageError
from sizebook.store import find_project, measurement_lock

HOLD = """
import sys, pathlib
from sizebook.store import measurement_lock
with measurement_lock("a test", pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_measurement_is_refused_and_told_who_holds_the_machine(tmp_path):
    """The message names purpose and process of the holder."""
    path = tmp_path / "lock"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout.readline() == "held\n"
    held = pytest.raises(MeasurementLockedError, match=f"process {holder.pid}, a test")
    with held, measurement_lock("another", path):
        raise AssertionError("two hold it")
    holder.kill()
    holder.communicate()
    with measurement_lock("a third", path):
        pass


def test_no_project_is_a_clear_message(tmp_path, monkeypatch):
    """Outside a checkout the message says what a project is."""
    monkeypatch.delenv("SIZEBOOK_ROOT", raising=False)
    with pytest.raises(UsageError, match=r"_config\.yml"):
        find_project(tmp_path)


def test_a_project_is_found_from_below(tmp_path):
    """Any folder inside the checkout will do."""
    (tmp_path / "notebooks" / "deep").mkdir(parents=True)
    (tmp_path / "_config.yml").touch()
    assert find_project(tmp_path / "notebooks" / "deep").root == tmp_path.resolve()
