"""Several logs read at a time: each is what it is alone, whatever lies beside it."""

import dataclasses

import polars as pl
import witness
from polars.testing import assert_frame_equal

from sizebook.gclog import GcLog, GcLogError, read_gc_log, read_gc_logs


def assert_same(log, alone):
    """Compare all that two logs tell."""
    for field in dataclasses.fields(GcLog):
        found, expected = getattr(log, field.name), getattr(alone, field.name)
        if isinstance(expected, pl.DataFrame):
            assert_frame_equal(found, expected)
        else:
            assert found == expected, field.name


def test_logs_read_together_are_what_they_are_alone():
    """All collectors, parts of logs, a log of two runs, one without a collection, none at all."""
    raws = [witness.recorded(name).raw for name in witness.NAMES]
    raws += [raws[0][40_000:90_000], raws[1] + raws[2], b"[0.004s][info][gc] Using Serial\n", b""]
    raws += [raws[-3], b"\x1f\x8b\x08\x00" + bytes(range(1, 200))]
    logs = read_gc_logs(raws)
    assert len(logs) == len(raws)
    refused = 0
    for raw, log in zip(raws, logs, strict=True):
        try:
            alone = read_gc_log(raw)
        except GcLogError as error:
            assert str(log) == str(error)
            refused += 1
        else:
            assert_same(log, alone)
    assert refused == 2
    two = logs[len(witness.NAMES) + 1]
    assert isinstance(two, GcLog)
    assert set(two.collections["run"]) == {run.number for run in two.runs} == {1, 2}


def test_nothing_is_read_of_nothing():
    assert read_gc_logs([]) == []
    [refused] = read_gc_logs([b""])
    assert isinstance(refused, GcLogError)
    assert "empty" in str(refused)
