"""Readings told by their steps are the readings that were told, to the last bit."""

import json

import numpy as np
import polars as pl
import pytest

from sizebook.model.bundle import COUNTER_COLUMNS
from sizebook.store.counter_file import make_rows, read_series, write_counters
from sizebook.store.tables import TableError

SCHEMA = {name: getattr(pl, kind) for name, kind in COUNTER_COLUMNS.items()}
RANDOM = np.random.default_rng(1)
TICKS = np.cumsum(RANDOM.integers(0, 3, 40)) / 100
KINDS = {
    "ticks_s": TICKS,
    "sum_of_ticks_s": TICKS + TICKS[::-1].copy() + 0.1,
    "nanoseconds_s": np.cumsum(RANDOM.integers(0, 10**8, 40)) / 1e9,
    "added_up_s": np.cumsum(RANDOM.random(40) / 7),
    "share": RANDOM.random(40),
    "bytes": RANDOM.integers(0, 2**45, 40) * 4096.0,
    "huge": RANDOM.random(40) * 1e300,
    "below": -TICKS,
    "never": np.full(40, 7.0),
    "no_answer": np.full(40, np.nan),
    "some": np.where(RANDOM.random(40) < 0.3, np.nan, TICKS),
    "minus_zero": np.array([0.0, -0.0] * 20),
}


def rows_of(kinds, source="host", first_ns=10**15):
    """Return readings of a source: one time for all of its metrics, some 100 ms apart."""
    times = first_ns + np.cumsum(RANDOM.integers(99_000_000, 101_000_000, 40))
    parts = [
        pl.DataFrame({"time_ns": times, "host": "local", "source": source, "metric": metric,
                      "value": pl.Series(values).fill_nan(None)}).cast(SCHEMA)
        for metric, values in kinds.items()
    ]  # fmt: skip
    return pl.concat(parts).sort("time_ns", maintain_order=True)


def read_counters(data):
    """Return the rows behind a file."""
    return make_rows(read_series(data))


def in_order(frame):
    """Return rows in the order of their words and times, which is not told."""
    words = [pl.col(name).cast(pl.String) for name in ("host", "source", "metric")]
    return frame.with_columns(words).sort("host", "source", "metric", "time_ns")


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_lost(kind):
    """Whatever the counter: its bits come back, no answer as none."""
    rows = rows_of({kind: KINDS[kind]})
    read = read_counters(write_counters(rows))
    assert dict(read.schema) == SCHEMA
    assert in_order(read).drop("value").equals(in_order(rows).drop("value"))
    then, now = (in_order(each)["value"] for each in (rows, read))
    assert now.is_null().equals(then.is_null())
    assert now.drop_nulls().to_numpy().tobytes() == then.drop_nulls().to_numpy().tobytes()


def test_several_sources_lie_in_the_order_of_time():
    """Times of a source are told once for all of its metrics; rows come by time."""
    rows = pl.concat([rows_of(KINDS), rows_of(KINDS, "process/app-1", 10**15 + 12345)])
    data = write_counters(rows)
    content = json.loads(data)
    assert (len(content["times"]), len(content["series"])) == (2, 2 * len(KINDS))
    read = read_counters(data)
    assert read["time_ns"].is_sorted()
    assert in_order(read).equals(in_order(rows))
    assert write_counters(read) == data


def test_no_rows_are_no_rows():
    """A trial that failed before its first reading has a table without rows."""
    read = read_counters(write_counters(pl.DataFrame(schema=SCHEMA)))
    assert (read.height, dict(read.schema)) == (0, SCHEMA)


def test_whole_steps_take_less_than_the_values():
    """Counters of ticks are told in one or two digits a reading."""
    rows = rows_of({"ticks_s": KINDS["ticks_s"]})
    told = json.loads(write_counters(rows))["series"][0]
    assert told[:5] == ["local", "host", "ticks_s", 0, 2]
    assert max(told[5][1:]) <= 2
    assert len(told) == 6


BASE = json.loads(write_counters(rows_of({"ticks_s": KINDS["ticks_s"]})))
ONE = BASE["series"][0]


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"format": "another"},
        {"times": [[0.5, 1.5]]},
        {"times": [[2**70]]},
        {"times": 3},
        {"series": [ONE[:4]]},
        {"series": [[*ONE, [], []]]},
        {"series": [[*ONE[:3], 1, *ONE[4:]]]},
        {"series": [[*ONE[:4], 7, ONE[5]]]},
        {"series": [[*ONE[:5], ONE[5][:-1]]]},
        {"series": [[*ONE[:5], "text"]]},
        {"series": [[*ONE, [1.5] * 40]]},
        {"series": [[*ONE, [1]]]},
        {"series": [[{}, *ONE[1:]]]},
        {"series": [ONE, ONE]},
        {"times": [[BASE["times"][0][0], -1, *BASE["times"][0][2:]]]},
        {"series": [[*ONE[:4], None, [{}] * 40]]},
    ],
)
def test_another_form_is_refused(change):
    """Nothing but the form that is written here is read, whatever a file says."""
    with pytest.raises(TableError, match="no form that is known"):
        read_series(json.dumps(BASE | change).encode())


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"[" * 100_000, b"\xff"])
def test_no_json_is_refused(data):
    """Files that hold no object at all."""
    with pytest.raises(TableError):
        read_series(data)
