"""Progress: counts, time left, and how much of a run was load."""

import json
import math

import pytest

from sizebook.lab.progress import PROGRESS_FILE, Pace, Progress


class Clock:
    """A clock that is moved by hand."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def lines(tmp_path, monkeypatch):
    """Give a function that returns the lines told to a runner so far."""
    path = tmp_path / "progress"
    monkeypatch.setenv(PROGRESS_FILE, str(path))
    return lambda: [json.loads(line) for line in path.read_text().splitlines()]


def test_time_left_is_stretched_by_how_the_run_has_gone(lines):
    """Twice as slow as planned so far: what is left takes twice its plan, too."""
    clock = Clock()
    progress = Progress("c", 4, 40.0, clock)
    progress.step("first")
    clock.now = 20.0
    progress.step("second", planned_s=10.0, done=1)
    assert [line["left_s"] for line in lines()] == [40.0, 60.0]
    assert [line["done"] for line in lines()] == [0, 1]


def test_the_last_line_says_how_much_of_the_run_was_load(lines):
    """Wall time, seconds of load, and their ratio; the pace is given back, too."""
    clock = Clock()
    progress = Progress("c", 2, 300.0, clock)
    for _ in range(2):
        progress.add_phases(145.0)
    clock.now = 464.0
    assert progress.finish() == Pace(464.0, 290.0)
    (last,) = lines()
    assert (last["done"], last["total"], last["left_s"]) == (2, 2, 0.0)
    assert last["label"] == "7 min 44 s, of which 4 min 50 s of load (x 1.60)"


def test_a_run_without_load_has_no_ratio(capsys, monkeypatch):
    """Every trial failed before its load: the time alone is said, in the terminal."""
    monkeypatch.delenv(PROGRESS_FILE, raising=False)
    clock = Clock()
    progress = Progress("c", 1, 10.0, clock)
    clock.now = 3.0
    assert math.isnan(progress.finish().ratio)
    assert capsys.readouterr().err == "c: 1 trials in 3 s\n"
