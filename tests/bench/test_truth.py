"""The truth benchmark in a short real run: what is recorded bears the law and the freeze.

Nothing here asks how fast the machine is: an answer cannot come before its time, a percentile of
later times cannot be smaller, and a server that stands still answers nobody.
"""

import pytest
from bench.rig import Rig
from bench.truth import AtShare

from bench import truth
from sizebook.hosts import Guard, LocalHost
from sizebook.lab.placement import place
from sizebook.model.errors import UserError
from sizebook.stack import StackRunner
from sizebook.stack.build import find_build
from sizebook.store import find_project


@pytest.fixture
def rig(tmp_path):
    """Return a rig whose files are below a folder of the test; it holds no lock."""
    try:
        build = find_build(find_project())
    except UserError as error:
        pytest.skip(str(error))
    if not place().separate:
        pytest.skip("one CPU: generator and server cannot be apart")
    guard = Guard(tmp_path / "guard")
    host = LocalHost(guard)
    runner = StackRunner(build, {host.name: host}, tmp_path)
    yield Rig(host, runner, tmp_path / "work", place(), {}, short=True, tell=lambda _: None)
    guard.close()


def test_recorded_percentiles_bear_law_and_freeze(rig, monkeypatch):
    """100 arrivals a second for 2 s, half a second of freeze in the midst, no delay too short."""
    monkeypatch.setattr(truth, "CONNECTIONS", 100)
    options = {"delay_law": truth.LAW, "delay_seed": truth.SEED}
    options |= {"freeze_at_s": 1.5, "freeze_for_s": 0.5}
    with rig.generator() as generator, rig.null_server(**options) as server:
        share = AtShare(rig, generator, 100.0, 1.0, 100.0)
        collected, offsets, timeline = share.trial("freeze", server, 1.0)
        run = share.judge("freeze", 0, collected, offsets, timeline, None)
    begin_ns, end_ns = timeline.freeze_ns
    assert end_ns - begin_ns >= 500_000_000
    assert offsets.size == timeline.read_ns.size == 200
    for times in (timeline.read_ns, timeline.answered_ns):
        assert not ((times > begin_ns) & (times < end_ns)).any()
    assert run.requests == 100
    for row in run.rows:
        assert row.recorded_us >= row.answered_us
        assert row.recorded_us > 0
    assert run.rows[-1].computed_us > 400_000
    assert run.rows[-1].recorded_us > 400_000


def test_without_delay_recorded_is_the_way_alone(rig, monkeypatch):
    """Truth is zero, and the net of the way is what the way was."""
    monkeypatch.setattr(truth, "CONNECTIONS", 20)
    monkeypatch.setattr(truth, "LAW", truth.NO_DELAY)
    with rig.generator() as generator, rig.null_server(delay_law=truth.NO_DELAY) as server:
        share = AtShare(rig, generator, 50.0, 1.0, 50.0)
        trial = share.trial("law", server, 1.0)
        latencies = trial[0].requests["latency_ns"].to_numpy()
        run = share.judge("law", 0, *trial, latencies)
    assert [row.computed_us for row in run.rows] == [0.0] * 4
    assert all(0 < row.expected_us <= latencies.max() / 1e3 for row in run.rows)
    assert run.timer_p50_us >= 0
