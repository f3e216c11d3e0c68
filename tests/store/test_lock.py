import contextlib
import os
import subprocess
import sys

import pytest

from sizebook.model.errors import MeasurementLockedError, UsageError
from sizebook.store import find_project, measurement_lock
from sizebook.store.lock import NOT_ALONE, need_alone

HOLD = """
import sys, pathlib
from sizebook.store import measurement_lock
place = pathlib.Path(sys.argv[1])
state = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
with measurement_lock("a test", state, place=place) as alone:
    print("alone" if alone else "not alone", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Something to lock instead of the machine, which others may be measuring on; alone on it."""
    monkeypatch.delenv(NOT_ALONE)
    path = tmp_path / "machine"
    path.touch()
    return path


@contextlib.contextmanager
def holder(*arguments, **environment):
    """A process that holds the lock, and what it says of it."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    try:
        process.said = process.stdout.readline().strip()
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_second_measurement_is_refused_and_told_who_holds_the_machine(place):
    """The message names purpose and process of the holder; a killed holder holds nothing."""
    with holder(place) as first:
        assert first.said == "alone"
        held = pytest.raises(MeasurementLockedError, match=f"process {first.pid}, a test, since")
        with held, measurement_lock("another", place=place):
            raise AssertionError("two hold it")
    with measurement_lock("a third", place=place):
        pass


def test_tests_measure_beside_each_other_and_never_beside_a_measurement(place, monkeypatch):
    """Those that need not be alone share the machine; who wants it alone is refused meanwhile."""
    refused = pytest.raises(MeasurementLockedError, match="a test")
    with holder(place, **{NOT_ALONE: "1"}) as other:
        assert other.said == "not alone"
        with refused, measurement_lock("alone", place=place):
            raise AssertionError("beside a test")
        monkeypatch.setenv(NOT_ALONE, "1")
        with measurement_lock("beside", place=place) as alone:
            assert not alone
        monkeypatch.delenv(NOT_ALONE)
    with measurement_lock("alone", place=place), holder(place, **{NOT_ALONE: "1"}) as other:
        assert other.said == ""


def test_one_project_is_measured_in_once_even_by_tests(place, tmp_path, monkeypatch):
    """A measurement clears its project's folder of what others left; two would clear each other."""
    state = tmp_path / "state"
    monkeypatch.setenv(NOT_ALONE, "1")
    with holder(place, state) as other:
        assert other.said == "not alone"
        held = pytest.raises(MeasurementLockedError, match=f"in this folder.*process {other.pid}")
        with held, measurement_lock("a test", state, place=place):
            raise AssertionError("two hold it")
        with measurement_lock("a test", tmp_path / "other", place=place):
            pass


def test_what_needs_the_machine_alone_is_refused_beside_others():
    """The message names the variable to unset."""
    with pytest.raises(UsageError, match=NOT_ALONE):
        need_alone(False, "benchmarks")
    need_alone(True, "benchmarks")


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
