"""Requests of the generator beside the same requests at the server."""

import numpy as np
import polars as pl
import pytest
from bench.law import latencies_ns
from bench.pairing import drained_per_s, pair
from bench.rig import Timeline


class Recorded:
    """What pairing needs of a trial."""

    def __init__(self, intended, start, end, phases):
        columns = {"intended_ns": intended, "start_ns": start}
        columns |= {"latency_ns": np.subtract(end, intended), "phase": phases}
        self.requests = pl.DataFrame(columns)


def times(*values):
    return np.array(values, dtype=np.int64)


LAW = times(500, 100, 300, 200)
TRIAL = Recorded(
    intended=[0, 10, 20, 30],
    start=[1, 12, 22, 33],
    end=[520, 125, 350, 250],
    phases=["warm-up", "measured", "measured", "drain"],
)
TIMELINE = Timeline(None, times(5, 15, 25, 40), times(506, 117, 328, 243))


def test_parts_add_up_to_what_was_recorded():
    """Of the measured phase: each request with its own times at the server."""
    pairs = pair(TRIAL, TIMELINE, LAW)
    assert pairs.recorded.tolist() == [115, 330]
    assert pairs.witnessed.tolist() == [107, 308]
    assert {name: part.tolist() for name, part in pairs.parts.items()} == {
        "late start": [2, 2],
        "way there": [3, 3],
        "server's timer": [2, 3],
        "way back": [8, 22],
    }
    assert (sum(pairs.parts.values()) + pairs.law == pairs.recorded).all()
    assert pairs.contradictions == 0
    assert pairs.peak_in_flight == 2


def test_the_order_of_starts_is_the_order_at_the_server():
    """Whatever the order of the rows and of the intended starts is."""
    turned = Recorded([20, 10, 0], [22, 12, 1], [350, 125, 520], ["measured"] * 3)
    timeline = Timeline(None, TIMELINE.read_ns[:3], TIMELINE.answered_ns[:3])
    pairs = pair(turned, timeline, LAW[:3])
    assert pairs.start.tolist() == [1, 12, 22]
    assert pairs.law.tolist() == [500, 100, 300]
    assert pairs.contradictions == 0


def test_what_cannot_be_is_counted():
    """Read before it was sent, or due at the server after the client had the answer."""
    early = Timeline(None, times(5, 11, 25, 40), TIMELINE.answered_ns)
    assert pair(TRIAL, early, LAW).contradictions == 1
    assert pair(TRIAL, TIMELINE, times(500, 100, 400, 200)).contradictions == 1


def test_unlike_numbers_cannot_be_paired():
    """A request that the server never saw."""
    with pytest.raises(ValueError, match="4 requests, 4 at the server"):
        pair(TRIAL, TIMELINE, LAW[:3])


def test_no_request_was_measured():
    """Degenerate size."""
    none = Recorded([0], [1], [9], ["drain"])
    pairs = pair(none, Timeline(None, times(2), times(8)), times(4))
    assert pairs.recorded.size == pairs.contradictions == pairs.peak_in_flight == 0


def frozen_at(service_ns):
    """Arrivals every 10 us, frozen from 1 s to 1.5 s, then one read a ``service_ns``."""
    intended = np.arange(200_000, dtype=np.int64) * 10_000
    freeze = (1_000_000_000, 1_500_000_000)
    read = latencies_ns(intended, np.zeros_like(intended), freeze, service_ns) + intended
    return intended, Timeline(freeze, read, read)


@pytest.mark.parametrize("service_ns", [2_000.0, 5_000.0])
def test_the_rate_behind_a_freeze_is_found(service_ns):
    """As planted, whatever came before and after."""
    assert drained_per_s(*frozen_at(service_ns)) == pytest.approx(1e9 / service_ns, rel=0.01)


def test_a_backlog_that_never_ends_has_its_rate_too():
    """The load was over before the server had caught up."""
    assert drained_per_s(*frozen_at(9_500.0)) == pytest.approx(1e9 / 9_500, rel=0.01)


def test_without_a_backlog_there_is_no_rate():
    """No freeze, or nobody who waited."""
    with pytest.raises(ValueError, match="did not freeze"):
        drained_per_s(times(1), Timeline(None, times(2), times(3)))
    with pytest.raises(ValueError, match="nothing waited"):
        drained_per_s(times(50), Timeline((10, 20), times(60), times(70)))
