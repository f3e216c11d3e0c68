"""The truth benchmark in a short real run: what is recorded bears the law and the freeze.

Nothing here asks how fast the machine is: an answer cannot come before its time, a percentile of
later times cannot be smaller, and a server that stands still answers nobody.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from bench.rig import Rig
from bench.truth import AtShare
from tests.asking import asked_again

from bench import openceiling, truth
from sizebook.hosts import Guard, LocalHost
from sizebook.lab.placement import place
from sizebook.model.errors import TrialError, UserError
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
    runner = StackRunner(build, host, tmp_path)
    bench = SimpleNamespace(host=host, runner=runner)
    yield Rig(bench, tmp_path / "work", place(), {}, short=True, tell=lambda _: None)
    guard.close()


def test_recorded_percentiles_bear_law_and_freeze(rig, monkeypatch):
    """100 arrivals a second for 2 s, half a second of freeze in the midst, no delay too short."""
    monkeypatch.setattr(truth, "CONNECTIONS", 100)
    options = {"delay_law": truth.HARD_LAW, "delay_seed": truth.SEED}
    options |= {"freeze_at_s": 1.5, "freeze_for_s": 0.5}

    def trial():
        with rig.generator() as generator, rig.null_server(**options) as server:
            share = AtShare(rig, generator, 100.0, 1.0)
            collected, offsets, timeline = share.trial("freeze", server, 1.0)
            return share.judge("freeze", 0, collected, offsets, timeline, None), offsets, timeline

    def is_undisturbed(found):
        run = found[0]
        looked_in_time = all(row.recorded_us >= row.answered_us for row in run.rows)
        forward = all(part["50"] >= 0 for part in run.parts_us.values())
        return run.contradictions == 0 and looked_in_time and forward

    run, offsets, timeline = asked_again(
        trial,
        is_undisturbed,
        "the server read requests in another order than they were sent, or lost its CPU between "
        "sending an answer and looking at its clock",
    )
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
    assert run.contradictions == 0
    assert run.connections == 100
    assert 40 <= run.peak_in_flight <= 100
    assert set(run.parts_us) == {"late start", "way there", "server's timer", "way back"}
    assert all(run.parts_us[part]["50"] >= 0 for part in run.parts_us)


def test_without_delay_recorded_is_the_way_alone(rig, monkeypatch):
    """Truth is zero, and the net of the way is what the way was."""
    monkeypatch.setattr(truth, "CONNECTIONS", 20)
    with rig.generator() as generator, rig.null_server(delay_law=truth.NO_DELAY) as server:
        share = AtShare(rig, generator, 50.0, 1.0)
        trial = share.trial("law", server, 1.0, truth.NO_DELAY)
        latencies = trial[0].requests["latency_ns"].to_numpy()
        ways = latencies, np.zeros_like(latencies)
        run = share.judge("law", 0, *trial, ways, truth.NO_DELAY)
    assert [row.computed_us for row in run.rows] == [0.0] * 4
    assert all(0 < row.expected_us <= latencies.max() / 1e3 for row in run.rows)
    assert run.parts_us["server's timer"]["50"] >= 0


@pytest.mark.parametrize(
    ("law", "rate_per_s", "connections"),
    [
        ("constant:0", 0.0, 300),
        ("lognormal:1000,0.5", 30_000.0, 300),
        ("constant:10000", 30_000.0, 600),
        ("constant:100000", 10_000.0, 1400),
    ],
)
def test_connections_suffice(law, rate_per_s, connections):
    """10 ms at 30,000/s: 300 under way, 8 x 17 more by chance, 150 more in a stall of 5 ms."""
    assert truth.connections_for(law, rate_per_s) == connections


def test_a_round_has_requests_enough_for_its_highest_percentile(rig):
    """At a tenth of a ceiling the rounds get longer; short runs stay short."""
    assert truth._law_s(rig, 10.0) == truth.SHORT_LAW_S
    rig.short = False
    assert truth._law_s(rig, 1e6) == truth.LAW_S
    assert truth._law_s(rig, 2100.0) == 10.0


def test_ways_are_added_to_every_latency():
    """Both ways, drawn apart: a stall of either meets its share of the requests."""
    computed = np.full(1000, 5_000_000)
    there, back = np.array([10, 10, 10, 1000]), np.array([1, 1, 1, 200])
    found = truth.with_ways(computed, (there, back)) - 5_000_000
    assert found.size == truth.WAYS_DRAWN
    values, counts = np.unique(found, return_counts=True)
    assert values.tolist() == [11, 210, 1001, 1200]
    assert counts / found.size == pytest.approx([9 / 16, 3 / 16, 3 / 16, 1 / 16], abs=0.005)
    assert truth.with_ways(np.array([], dtype=np.int64), (there, back)).size == 0


class Keeping:
    """Stands for the generator: keeps up to a rate."""

    def __init__(self, per_s):
        self.per_s = per_s
        self.tried = []

    def __call__(self, rig, generator, server, rate_per_s, users):
        self.tried.append(rate_per_s)
        return rate_per_s <= self.per_s


@pytest.mark.parametrize("per_s", [5_000.0, 41_000.0, 43_210.0, 79_000.0])
def test_the_open_ceiling_is_the_highest_rate_kept(per_s, monkeypatch):
    """To one step of the grid, in so many trials as bisection takes."""
    keeps = Keeping(per_s)
    monkeypatch.setattr(openceiling, "keeps_up", keeps)
    rig = SimpleNamespace(short=False, tell=lambda _: None)
    found = openceiling.find_open_ceiling(rig, None, None, 80_000.0, 300)
    assert len(found.per_s.values) == openceiling.ROUNDS
    assert found.per_s.low == found.per_s.high <= per_s < found.per_s.low * 1.05
    assert found.trials == len(keeps.tried) - 1 <= openceiling.ROUNDS * openceiling.MOST


def test_no_rate_kept_is_no_ceiling(monkeypatch):
    """A machine that others use: an error with what to do, not a ceiling of nothing."""
    monkeypatch.setattr(openceiling, "keeps_up", Keeping(0.0))
    rig = SimpleNamespace(short=True, tell=lambda _: None)
    with pytest.raises(TrialError, match="no rate"):
        openceiling.find_open_ceiling(rig, None, None, 80_000.0, 300)
