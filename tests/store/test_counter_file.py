"""Readings told by their steps are the readings that were told, to the last bit."""

import json

import numpy as np
import polars as pl
import pytest

from sizebook.model.bundle import COUNTER_COLUMNS
from sizebook.store.counter_file import make_rows, read_series, told_words, write_counters
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
    content = first_line(data)
    assert (len(content["times"]), len(content["series"])) == (2, 2 * len(KINDS))
    read = read_counters(data)
    assert read["time_ns"].is_sorted()
    assert in_order(read).equals(in_order(rows))
    assert write_counters(read) == data


def test_no_rows_are_no_rows():
    """A trial that failed before its first reading has a table without rows."""
    read = read_counters(write_counters(pl.DataFrame(schema=SCHEMA)))
    assert (read.height, dict(read.schema)) == (0, SCHEMA)


def test_steps_take_as_many_bytes_as_the_largest_needs():
    """Counters of ticks take one byte a reading, what never changes none; both beside the times."""
    times = first_line(write_counters(rows_of({"never": KINDS["never"]})))["times"]
    assert [(count, width) for count, _, width in times] == [(40, 4)]
    for kind, digits, first, width in (("ticks_s", 2, 100 * TICKS[0], 1), ("never", 0, 7, 0)):
        data = write_counters(rows_of({kind: KINDS[kind]}))
        series = ["local", "host", kind, 0, digits, round(first), width]
        assert first_line(data)["series"] == [series]
        assert len(data.partition(b"\n")[2]) == 39 * (4 + width)


def test_the_highest_bytes_come_first():
    """Up is even and down is odd; the second series lies behind the first."""
    times = pl.Series([10, 310, 310], dtype=pl.Int64)
    values = {"a": [0.0, 1.0, 0.0], "b": [5.0, 5.0, 70_000.0]}
    rows = pl.concat(
        [
            pl.DataFrame({"time_ns": times, "host": "local", "source": "host", "metric": metric,
                          "value": pl.Series(value)}).cast(SCHEMA)
            for metric, value in values.items()
        ]
    )  # fmt: skip
    *_, body = write_counters(rows).partition(b"\n")
    moved = 2 * (70_000 - 5)
    high, middle, low = moved.to_bytes(3, "big")
    assert body == bytes([600 >> 8, 0, 600 & 255, 0, 2, 1, 0, high, 0, middle, 0, low])


def first_line(data):
    """Return what the file tells before the steps."""
    return json.loads(told_words(data))


DATA = write_counters(rows_of({"ticks_s": KINDS["ticks_s"]}))
BODY = DATA.partition(b"\n")[2]
BASE = first_line(DATA)
ONE = BASE["series"][0]
TIMES = BASE["times"][0]


@pytest.mark.parametrize(
    "change",
    [
        {"version": 1},
        {"format": "another"},
        {"times": [[0.5, 1.5, 1]]},
        {"times": [[40, 2**70, TIMES[2]]]},
        {"times": [[0, TIMES[1], TIMES[2]]]},
        {"times": [[-40, *TIMES[1:]]]},
        {"times": [[40, TIMES[1], 9]]},
        {"times": [[40, TIMES[1], -1]]},
        {"times": [[10**12, TIMES[1], 0]]},
        {"times": [[2**62, TIMES[1], 4]]},
        {"times": [TIMES, [10**7, 0, 0]]},
        {"times": [TIMES[:2]]},
        {"times": 3},
        {"series": [ONE[:5]]},
        {"series": [[*ONE, [], []]]},
        {"series": [[*ONE[:3], 1, *ONE[4:]]]},
        {"series": [[*ONE[:4], 7, *ONE[5:]]]},
        {"series": [[*ONE[:6], 2]]},
        {"series": [[*ONE[:5], "text", 1]]},
        {"series": [[*ONE, [1.5] * 40]]},
        {"series": [[*ONE, [1]]]},
        {"series": [[{}, *ONE[1:]]]},
        {"series": [ONE, ONE]},
        {"series": [[*ONE[:4], None, [{}] * 40]]},
        {"series": [[*ONE[:4], None, [1.0] * 39]]},
    ],
)
def test_another_form_is_refused(change):
    """Nothing but the form that is written here is read, whatever a file says."""
    line = json.dumps(BASE | change).encode()
    with pytest.raises(TableError, match="no form that is known"):
        read_series(line + b"\n" + BODY)


@pytest.mark.parametrize("change", [b"", BODY[:-1], BODY + b"x"])
def test_fewer_or_more_steps_are_refused(change):
    """A file that was cut, or has more than it tells."""
    with pytest.raises(TableError, match=r"\d bytes of steps, not \d"):
        read_series(told_words(DATA) + b"\n" + change)


def test_times_that_go_back_are_refused():
    """The first step of the times is odd then."""
    width = TIMES[2]
    low = 39 * (width - 1)
    odd = BODY[:low] + bytes([BODY[low] | 1]) + BODY[low + 1 :]
    with pytest.raises(TableError, match="times that go back"):
        read_series(told_words(DATA) + b"\n" + odd)


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"[" * 100_000, b"\xff"])
def test_no_json_is_refused(data):
    """Files that hold no object at all."""
    with pytest.raises(TableError):
        read_series(data)


def test_half_a_letter_is_no_name():
    """JSON can name half of a surrogate pair, which no table can hold."""
    data = write_counters(rows_of({"ticks_s": TICKS}))
    assert b'"ticks_s"' in data
    with pytest.raises(TableError, match="surrogates"):
        read_series(data.replace(b'"ticks_s"', b'"\\ud800"'))
