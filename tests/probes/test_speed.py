"""The piece of work is done on the CPUs that are asked, counted, and stops with the probe."""

import math
import os
import threading
import time

import pytest
from tests.waiting import HANGS_S

from sizebook.hosts.local import usable_cpus
from sizebook.probes import speed
from sizebook.probes.registry import find_counter
from sizebook.probes.sampler import Sampler
from sizebook.probes.speed import SpeedProbe


def read(probe):
    return {one.metric: one.value for one in probe.sample()}


def wait_for(probe, metric, least):
    end = time.monotonic() + HANGS_S
    while (found := read(probe))[metric] < least:
        assert time.monotonic() < end, found
        time.sleep(0.02)
    return found


@pytest.fixture
def cpu():
    return usable_cpus()[0]


def test_pieces_are_counted_with_their_time(cpu):
    """Counts, CPU seconds and logarithms belong together; the mean is of the newest pieces."""
    probe = SpeedProbe((cpu,))
    try:
        first = read(probe)
        assert first == {f"speed_{name}/{cpu}": 0 for name in ("pieces", "cpu_s", "log_us")}
        found = wait_for(probe, f"speed_pieces/{cpu}", 4)
        pieces, mean_s = found[f"speed_pieces/{cpu}"], found[f"speed_piece_s/{cpu}"]
        geometric_us = math.exp(found[f"speed_log_us/{cpu}"] / pieces)
        assert 1 < geometric_us <= found[f"speed_cpu_s/{cpu}"] / pieces * 1e6 + 1e-6
        assert mean_s > 1e-6
        assert all(find_counter(metric).source == "speed" for metric in found)
    finally:
        probe.detach()


def test_it_works_where_it_is_told_from_the_first_reading_until_it_is_detached(cpu, monkeypatch):
    """Nothing runs before and after; each CPU in turn, and on no other."""
    seen = []
    monkeypatch.setattr(speed, "PERIOD_S", 0.001)
    monkeypatch.setattr(speed, "_make_piece", lambda: lambda: seen.append(os.sched_getaffinity(0)))
    cpus = usable_cpus()[:2]
    before, own = threading.active_count(), os.sched_getaffinity(0)
    probe = SpeedProbe(cpus)
    probe.attach()
    assert threading.active_count() == before
    wait_for(probe, f"speed_pieces/{cpus[-1]}", 3)
    probe.detach()
    assert threading.active_count() == before
    assert seen[1:5] == [{one} for one in [*cpus, *cpus, *cpus, *cpus][:4]], "after a first try"
    assert os.sched_getaffinity(0) == own, "only its own thread moves"
    known = read(probe)
    probe.detach()
    assert known[f"speed_pieces/{cpu}"] >= 3, "counts go on in the next trial"


def test_a_cpu_that_cannot_be_had_is_no_failure(monkeypatch):
    """The work is done all the same, where the system lets it."""
    monkeypatch.setattr(speed, "PERIOD_S", 0.001)
    probe = SpeedProbe((4095,))
    try:
        assert wait_for(probe, "speed_pieces/4095", 2)
    finally:
        probe.detach()


def test_the_mean_stays_until_there_is_a_new_piece(cpu, monkeypatch):
    """At ten readings a second some have no piece of their own: none of them is missing."""
    monkeypatch.setattr(speed, "PERIOD_S", 60.0)
    probe = SpeedProbe((cpu,))
    done = probe._done[cpu]
    try:
        assert f"speed_piece_s/{cpu}" not in read(probe)
        done.pieces, done.log_us = 2, 2 * math.log(300.0)
        assert read(probe)[f"speed_piece_s/{cpu}"] == pytest.approx(300e-6)
        assert read(probe)[f"speed_piece_s/{cpu}"] == pytest.approx(300e-6)
        done.pieces, done.log_us = 3, done.log_us + math.log(600.0)
        assert read(probe)[f"speed_piece_s/{cpu}"] == pytest.approx(600e-6)
    finally:
        probe.detach()


def test_a_sampler_ends_it(cpu):
    """As a context: it works from the first snapshot on, and has stopped behind it."""
    before = threading.active_count()
    with Sampler([SpeedProbe((cpu,), interval_s=0.1)]) as sampler:
        end = time.monotonic() + HANGS_S
        while (sampler.latest("speed", f"speed_pieces/{cpu}") or 0) < 3:
            assert time.monotonic() < end
            time.sleep(0.05)
    assert threading.active_count() == before
    assert sampler.missing() == ()
