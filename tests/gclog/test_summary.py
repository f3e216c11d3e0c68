"""Counters over a window, and what is advised from them: against numbers worked out by hand."""

import dataclasses
import gzip

import polars as pl
import pytest
import witness

from sizebook.gclog import advise, read_gc_log, summarise

MIB = witness.MIB
MS = 1_000_000


def steady(count=40, pause_ms=50.0, before=100, after=60, total=100, apart_s=1.0, collector="G1"):
    """Return a log of full collections, one a second, the first at 1 s; nanoseconds are uptime."""
    rows = [f"[0.000s][100000000000ns][info][gc] Using {collector}"]
    for n in range(count):
        at = (n + 1) * apart_s
        rows.append(
            f"[{at:.3f}s][{int(100e9 + at * 1e9)}ns][info][gc] GC({n}) Pause Full (Ergonomics) "
            f"{before}M->{after}M({total}M) {pause_ms:.3f}ms"
        )
    return read_gc_log("\n".join([*rows, ""]).encode())


def test_the_counters_of_a_steady_log():
    """40 pauses of 50 ms in 40 s are 5 %; 40 MiB are allocated each second."""
    found = summarise(steady())
    assert found.collections == 40
    assert found.by_kind == {"full": 40}
    assert found.pause_ns == 2_000 * MS
    assert found.overhead_share == pytest.approx(0.05)
    assert found.mean_pause_ns == 50 * MS
    assert found.longest_pause_ns == 50 * MS
    assert found.live_bytes == 60 * MIB
    assert found.live_from == "full"
    assert found.allocated_per_s == pytest.approx(40 * MIB)
    assert found.peak_used_bytes == 100 * MIB
    assert found.rise_bytes == 0
    assert found.heap_exhaustions == 0


def test_a_window_counts_what_lies_within():
    """Of a pause across the window's begin counts the part within; of a collection the end."""
    log = steady()
    found = summarise(log, begin_ns=int(104.98e9), end_ns=int(114.98e9))
    assert found.window_s == pytest.approx(10.0)
    assert found.collections == 10
    assert found.pause_ns == 20 * MS + 9 * 50 * MS + 30 * MS
    nothing = summarise(log, begin_ns=int(200e9), end_ns=int(201e9))
    assert (nothing.collections, nothing.pause_ns, nothing.live_bytes) == (0, 0, None)
    assert nothing.longest_pause_ns is None
    assert nothing.overhead_share == 0.0


def test_windows_that_cannot_be_are_refused():
    """Times of a clock that the log does not have, and an end before the begin."""
    with pytest.raises(ValueError, match="ends before"):
        summarise(steady(), begin_ns=5, end_ns=1)
    with pytest.raises(ValueError, match="CLOCK_MONOTONIC"):
        summarise(read_gc_log(b"[0.1s][info][gc] Using G1\n"), begin_ns=1, end_ns=2)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_collections_are_told_without_rates(count):
    """Nothing is divided by nothing."""
    found = summarise(steady(count))
    assert found.collections == count
    assert (found.allocated_per_s is None) == (count < 2)
    assert advise(found).heap_bytes is None


def test_exhaustion_is_seen_in_every_log_in_which_memory_ran_out():
    """Serial, Parallel and G1 show it by their last resort, ZGC says it; none shows it before."""
    for name in witness.NAMES:
        found = witness.recorded(name)
        assert found.said["out_of_memory"] == 1
        if found.log.facts.collector == "Shenandoah":
            continue
        assert summarise(found.log).heap_exhaustions >= 1, name
        before = found.log.collections["end_ns"].quantile(0.5)
        early = summarise(found.log, end_ns=int(before))
        assert early.heap_exhaustions == 0, name


def test_largest_request_where_the_log_tells_it():
    """Shenandoah names what it could not allocate: here 700,000 bytes and a header, or 900,000."""
    found = summarise(witness.recorded("shenandoah-17").log)
    assert 600_000 < found.largest_request_bytes < 1_000_000
    assert summarise(witness.recorded("g1-17").log).largest_request_bytes is None


def test_what_was_allocated_is_near_what_the_program_allocates():
    """90 MB of garbage, a heap of 48 MB that is filled, and the program itself; ZGC counts pages of
    2 MiB, however little is in them."""
    for name in witness.NAMES:
        found = summarise(witness.recorded(name).log)
        most = 340 if found.facts.collector == "ZGC" else 200
        assert 140 * MIB < found.allocated_bytes < most * MIB, name


def test_the_advice_follows_the_model():
    """H' = L + (H - L) O / x: 10 % with 40 MiB free is 5 % with 80 MiB free."""
    log = steady(pause_ms=100.0)
    advice = advise(log, 0.05)
    assert advice.heap_bytes == 140 * MIB
    assert advise(log, 0.10).heap_bytes == 100 * MIB
    assert (advice.least_bytes, advice.most_bytes) == (72 * MIB, 220 * MIB)


def test_no_advice_outside_the_data():
    """Too far up there is no number; too far down it is the edge of what the log can tell."""
    far = advise(steady(pause_ms=400.0), 0.01)
    assert far.heap_bytes is None
    assert "measure there" in far.words
    low = advise(steady(pause_ms=1.0), 0.05)
    assert low.heap_bytes == low.least_bytes == 72 * MIB
    assert "cannot tell" in low.words


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"heap_exhaustions": 1}, "memory ran out"),
        ({"collections": 9}, "too few"),
        ({"rise_bytes": 20 * MIB}, "grows"),
        ({"live_bytes": None}, "does not tell"),
        ({"live_bytes": 100 * MIB}, "all of the heap"),
        ({"window_s": None}, "no times"),
        ({"evacuation_failures": 20}, "no room to move"),
    ],
)
def test_reasons_not_to_advise(changed, says):
    """Each says what is missing, and no number is given."""
    advice = advise(dataclasses.replace(summarise(steady()), **changed))
    assert advice.heap_bytes is None
    assert says in advice.words


def test_a_live_set_known_only_as_a_bound_gives_no_larger_heap():
    """After young collections garbage is left: enough to advise less heap, not to advise more."""
    summary = dataclasses.replace(summarise(steady(pause_ms=100.0)), live_from="young")
    assert advise(summary, 0.05).heap_bytes is None
    assert "at most" in advise(summary, 0.2).words
    assert advise(summary, 0.2).heap_bytes is not None


def test_collectors_that_run_beside_the_application_need_room_for_a_cycle():
    """L + 1.25 A T, if the collector kept up."""
    zgc = witness.recorded("zgc-17").log.facts
    steady_zgc = dataclasses.replace(
        summarise(steady(pause_ms=0.1, before=64, after=40)), facts=zgc, live_bytes=40 * MIB,
        heap_bytes=128 * MIB, allocated_per_s=64.0 * MIB, longest_cycle_ns=250 * MS,
    )  # fmt: skip
    assert advise(steady_zgc).heap_bytes == 62 * MIB  # 40 + 20 is below a quarter of the room: 62
    busy = dataclasses.replace(steady_zgc, allocated_per_s=128.0 * MIB)
    assert advise(busy).heap_bytes == 80 * MIB
    late = dataclasses.replace(busy, stalls=3)
    assert advise(late).heap_bytes is None
    assert "could not keep up" in advise(late).words


def test_findings_name_what_is_wrong():
    """Each with its weight; a good log has none."""
    assert advise(steady(pause_ms=1.0)).findings == ()
    found = {one.key: one for one in advise(summarise(witness.recorded("g1-17").log)).findings}
    assert found["exhaustion"].weight == "bad"
    assert found["explicit"].weight == "doubtful"
    assert advise(steady(pause_ms=300.0)).findings[0].key == "excessive"
    assert advise(steady(0)).findings[0].key == "none"


@pytest.mark.parametrize("share", [0.0, 1.0, -1.0])
def test_a_share_must_be_one(share):
    """0 would want an endless heap."""
    with pytest.raises(ValueError, match="share"):
        advise(steady(), share)


def test_the_stored_logs_are_whole():
    """They are what the JVMs wrote, to the last line."""
    for name in witness.NAMES:
        raw = gzip.decompress((witness.DATA / f"{name}.log.gz").read_bytes())
        assert raw.endswith(b"\n")
        assert not witness.recorded(name).log.is_cut.begin


def test_collections_beside_the_application_that_overlap_count_once():
    """10 s of 40 s with 4 s within them and 2 s that reach beyond: 11 s; a pause counts nothing."""
    log = steady(4, apart_s=10.0)
    spans = log.collections.with_columns(
        begin_s=pl.Series([0.0, 2.0, 9.0, 30.0]),
        end_s=pl.Series([10.0, 6.0, 11.0, 40.0]),
        concurrent_ns=pl.Series([10, 4, 2, 0]) * 1_000_000_000,
    )
    found = summarise(dataclasses.replace(log, collections=spans), seconds=40.0)
    assert found.concurrent_share == pytest.approx(11 / 40)
    assert summarise(steady()).concurrent_share == 0.0
