"""The interval log: what is written is read back, by us and by the package's own reader."""

import base64
import struct
import zlib

import numpy as np
import polars as pl
import pytest
from hdrh.log import HistogramLogReader

from sizebook.stats import hdr
from sizebook.stats.histograms import (
    EVERY_NAME,
    IntervalLogError,
    merge_intervals,
    read_interval_log,
    write_interval_log,
    write_phase_log,
)

S = 1_000_000_000
ORIGIN = 12_345 * S + 678


def requests(n=2000, seed=1, service_share=1.0):
    random = np.random.default_rng(seed)
    latency = random.lognormal(14, 1, n).astype(np.int64)
    intended = ORIGIN + np.sort(random.integers(0, 5 * S, n))
    frame = pl.DataFrame(
        {
            "intended_ns": intended,
            "latency_ns": latency,
            "service_ns": (latency * service_share).astype(np.int64),
            "name": random.choice(["flight list", "détail/1,2", "x"], n),
            "error": np.where(random.random(n) < 0.1, "body", ""),
            "phase": np.where(intended < ORIGIN + 2 * S, "warm-up", "measured"),
        }
    )
    return frame.cast({"name": pl.Categorical, "error": pl.Categorical, "phase": pl.Categorical})


@pytest.mark.parametrize("shuffled", [False, True])
def test_every_group_is_read_back(tmp_path, shuffled):
    """Each second, name, phase and outcome comes back with exactly its values' buckets."""
    frame = requests()
    if shuffled:
        frame = frame.sample(fraction=1.0, shuffle=True, seed=1)
    lines = write_interval_log(tmp_path / "latency.hlog", frame, ORIGIN)
    read = read_interval_log(tmp_path / "latency.hlog")
    assert len(read) == lines
    groups = frame.with_columns(
        second=(pl.col("intended_ns") - ORIGIN) // S,
        outcome=pl.when(pl.col("error") == "").then(pl.lit("ok")).otherwise(pl.lit("failed")),
    ).group_by("second", "name", "phase", "outcome")
    expected = {
        tuple(map(str, key)): np.sort(hdr.bucket_indexes(group["latency_ns"].to_numpy()))
        for key, group in groups
    }
    assert len(expected) == lines
    for one in read:
        key = (str((one.begin_ns - ORIGIN) // S), one.name, one.phase, one.outcome)
        assert (np.repeat(one.indexes, one.counts) == expected[key]).all()
        assert (one.length_ns, one.quantity) == (S, "latency")


def test_percentiles_survive_the_file(tmp_path):
    """Percentiles of the measured phase from the log are exact to 0.1 %."""
    frame = requests()
    write_interval_log(tmp_path / "latency.hlog", frame, ORIGIN)
    merged = merge_intervals(read_interval_log(tmp_path / "latency.hlog"))
    good = frame.filter((pl.col("phase") == "measured") & (pl.col("error") == ""))["latency_ns"]
    ranks = np.floor(np.array([0.5, 0.95, 0.99]) * good.len() + 0.5).astype(int)
    exact = np.sort(good.to_numpy())[ranks - 1]
    assert merged.total_count == good.len()
    assert hdr.percentiles_ns(merged, [50, 95, 99]) == pytest.approx(exact, rel=1e-3)


def test_phases_hold_what_their_seconds_hold(tmp_path):
    """One line for each phase and outcome, from its first second to its last; sums agree."""
    write_interval_log(tmp_path / "latency.hlog", requests(service_share=0.5), ORIGIN)
    seconds = read_interval_log(tmp_path / "latency.hlog")
    lines = write_phase_log(tmp_path / "phases.hlog", reversed(seconds), ORIGIN)
    phases = read_interval_log(tmp_path / "phases.hlog")
    words = [(one.quantity, one.phase, one.outcome, one.name) for one in phases]
    assert len({*words}) == len(words) == lines == 2 * 2 * 2
    assert {one.name for one in phases} == {EVERY_NAME}
    for quantity in ("latency", "service"):
        for more in ({}, {"phase": None, "outcome": None}, {"outcome": "failed"}):
            whole, parts = (
                merge_intervals(each, quantity=quantity, **more) for each in (phases, seconds)
            )
            assert whole.get_total_count() == parts.get_total_count() > 0
            assert whole.equals(parts)
    measured = [one for one in phases if one.phase == "measured"]
    assert {(one.begin_ns - ORIGIN) // S for one in measured} <= {2, 3}
    assert {(one.begin_ns + one.length_ns - ORIGIN) // S for one in measured} <= {4, 5}
    again = HistogramLogReader(str(tmp_path / "phases.hlog"), hdr.new_histogram())
    assert again.get_next_interval_histogram().get_total_count() == phases[0].total_count


def test_phases_are_not_deflated(tmp_path):
    """The same histograms in a form that an archive compresses further than deflated ones."""
    write_interval_log(tmp_path / "latency.hlog", requests(service_share=0.5), ORIGIN)
    seconds = read_interval_log(tmp_path / "latency.hlog")
    write_phase_log(tmp_path / "phases.hlog", seconds, ORIGIN)
    rows = [one for one in (tmp_path / "phases.hlog").read_text().splitlines() if one[:4] == "Tag="]
    assert len(rows) == 2 * 2 * 2
    for row in rows:
        packed = base64.b64decode(row.rpartition(",")[2])
        assert int.from_bytes(packed[4:8], "big") == len(packed) - 8
        assert len(packed) > len(zlib.decompress(packed[8:])) + 8


def test_service_times_are_kept_where_they_differ(tmp_path):
    """Closed loops store one quantity, open arrivals two; service falls back on latency."""
    path = tmp_path / "latency.hlog"
    closed = write_interval_log(path, requests(), ORIGIN)
    alike = read_interval_log(path)
    assert merge_intervals(alike, quantity="service").equals(merge_intervals(alike))
    assert write_interval_log(path, requests(service_share=0.5), ORIGIN) == 2 * closed
    differ = read_interval_log(path)
    service = merge_intervals(differ, quantity="service", phase=None, outcome=None)
    half = (requests()["latency_ns"].to_numpy() * 0.5).astype(np.int64)
    expected = hdr.new_histogram()
    hdr.record_many(expected, half)
    assert (hdr.counts_of(service) == hdr.counts_of(expected)).all()


@pytest.mark.parametrize("n", [0, 1])
def test_few_rows(tmp_path, n):
    """No request and one request make a log of no line and one."""
    path = tmp_path / "latency.hlog"
    assert write_interval_log(path, requests(n), ORIGIN) == n
    assert [one.total_count for one in read_interval_log(path)] == [1] * n


def test_the_format_is_the_common_one(tmp_path):
    """The package's reader reads the first line as we do."""
    write_interval_log(tmp_path / "latency.hlog", requests(), ORIGIN)
    first = read_interval_log(tmp_path / "latency.hlog")[0]
    reader = HistogramLogReader(str(tmp_path / "latency.hlog"), hdr.new_histogram())
    theirs = reader.get_next_interval_histogram()
    reader.close()
    assert theirs.total_count == first.total_count
    assert theirs.get_tag().split("/")[:2] == ["latency", "warm-up"]


def test_missing_latency_is_refused(tmp_path):
    """A row without latency is an error, not a zero."""
    frame = requests().with_columns(latency_ns=pl.lit(None, dtype=pl.Int64))
    with pytest.raises(ValueError, match="rows without latency_ns"):
        write_interval_log(tmp_path / "latency.hlog", frame, ORIGIN)


def _payload(highest=hdr.HIGHEST_NS, counts=b"\x02", length=None):
    head = struct.pack(">IIIIQQd", 0x1C849303 | 0x10, len(counts), 0, 3, 1, highest, 1.0)
    packed = zlib.compress(head + counts)
    outer = struct.pack(">II", 0x1C849304 | 0x10, length if length is not None else len(packed))
    return base64.b64encode(outer + packed).decode()


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        "Tag=latency/measured/ok/x,0.000,1.000,1.0,!!!",
        "Tag=latency/measured/ok/x,0.000,1.000,1.0,AAAA",
        f"Tag=latency/measured/ok,0.000,1.000,1.0,{_payload()}",
        f"Tag=latency/lunch/ok/x,0.000,1.000,1.0,{_payload()}",
        f"Tag=latency/measured/ok/x,0.000,1.000,1.0,{_payload(highest=2**62)}",
        f"Tag=latency/measured/ok/x,0.000,1.000,1.0,{_payload(counts=bytes(1 << 21))}",
        f"Tag=latency/measured/ok/x,0.000,1.000,1.0,{_payload(length=5)}",
        f"Tag=latency/measured/ok/x,0.000,1.000,1.0,{_payload(counts=bytes([2]) * 90_000)}",
    ],
)
def test_foreign_lines_are_refused(tmp_path, line):
    """Broken, foreign or blown-up lines end in an error that names the line."""
    path = tmp_path / "latency.hlog"
    path.write_text(f"#origin_monotonic_ns=0\n{line}\n")
    with pytest.raises(IntervalLogError, match=r"line 2 of latency\.hlog"):
        read_interval_log(path)
