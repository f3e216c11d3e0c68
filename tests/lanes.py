"""How the suite is spread over processes, and where its time went.

Modules are handed out whole, those that take longest first, so that none is waited for at the end.
All that measure chapters share one copy of the project, and are one piece. Behind the tests stand
each lane's time, by folder, and the twenty slowest tests.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

TESTS = Path(__file__).parent
ALONE = ("test_budget.py", "test_kill.py", "test_machines.py", "test_new.py", "test_trouble.py")
"""Modules of ``smoke`` with a copy of the project each."""
FIRST = (
    "smoke",
    "java",
    *(f"smoke/{name}" for name in ALONE),
    "stack",
    "bench",
    "hosts",
    "load",
    "adversary",
    "audit",
    "book",
    "fuzz",
)
"""Pieces and folders that take longest; all others come behind them."""
LONG, LONG_S = ("smoke", "java"), 4500
"""Folders, and what one of their tests may take with what it starts from."""
SLOWEST = 20
CPU_S = pytest.StashKey[float]()
LAST_LINES = 12
"""Of a failure, told at once; all of it stands at the end."""


def piece_of(path: str) -> str:
    """Return the piece of work that a module below ``tests`` belongs to."""
    folder, _, name = path.partition("/")
    return folder if folder == "smoke" and name not in ALONE else path


def rank(path: str) -> int:
    """Return how early a module is to be run."""
    piece = piece_of(path)
    places = (piece, piece.partition("/")[0])
    return next((FIRST.index(place) for place in places if place in FIRST), len(FIRST))


def below_tests(nodeid: str) -> str:
    """Return the path of a test's module below ``tests``."""
    return nodeid.partition("::")[0].removeprefix("tests/")


class Pieces(LoadScopeScheduling):  # type: ignore[misc]
    """Hands out pieces of work."""

    def _split_scope(self, nodeid: str) -> str:
        return piece_of(below_tests(nodeid))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    """Hand out pieces in the order of the tests, not the one with most tests first."""
    config.option.loadscopereorder = False
    return Pieces(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put what takes longest first, where several processes share the work.

    What runs every chapter, or all tests in Java, before a test begins may take that long.
    """
    for item in items:
        if below_tests(item.nodeid).partition("/")[0] in LONG:
            item.add_marker(pytest.mark.timeout(LONG_S))
    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=lambda item: rank(below_tests(item.nodeid)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[bool | None]:
    """Note when a test began, in CPU time, that of ended processes included."""
    item.stash[CPU_S] = sum(os.times()[:4])
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Iterator[None]:
    """Note with each test the CPU time that it took, with what it started from."""
    if call.when == "teardown":
        used = sum(os.times()[:4]) - item.stash[CPU_S]
        item.user_properties.append(("cpu_s", round(used, 3)))
    return (yield)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Tell of each failure when it happens: whoever ends a long run early knows what failed."""
    if report.failed and "PYTEST_XDIST_WORKER" not in os.environ:
        lines = str(report.longrepr).rstrip().splitlines()[-LAST_LINES:]
        print(f"\n{report.outcome} {report.when} {report.nodeid}", *lines, sep="\n  ", flush=True)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Tell each lane's time and the slowest tests; nothing where there were few."""
    wall: dict[str, float] = defaultdict(float)
    cpu: dict[str, float] = defaultdict(float)
    for reports in terminalreporter.stats.values():
        for report in reports:
            if hasattr(report, "duration") and hasattr(report, "when"):
                wall[report.nodeid] += report.duration
                if report.when == "teardown":
                    cpu[report.nodeid] = dict(report.user_properties).get("cpu_s", 0.0)
    if len(wall) <= SLOWEST:
        return
    lanes: dict[str, list[str]] = defaultdict(list)
    for nodeid in wall:
        lanes[below_tests(nodeid).partition("/")[0]].append(nodeid)
    write = terminalreporter.write_line
    terminalreporter.section("time by lane")
    for lane, tests in sorted(lanes.items(), key=lambda one: -sum(wall[test] for test in one[1])):
        seconds, used = (sum(times[test] for test in tests) for times in (wall, cpu))
        write(f"{lane:<10}{len(tests):>6} tests {seconds:>8.1f} s {used:>8.1f} s of CPU")
    terminalreporter.section(f"slowest {SLOWEST} tests")
    for nodeid in sorted(wall, key=wall.__getitem__, reverse=True)[:SLOWEST]:
        write(f"{wall[nodeid]:>8.1f} s {cpu[nodeid]:>8.1f} s of CPU  {nodeid}")
