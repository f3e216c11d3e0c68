"""What is stored comes back to the last bit, for contents that a search makes up."""

from __future__ import annotations

import struct

import numpy as np
import polars as pl
import synthetic_bundles
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from sizebook.model.bundle import COUNTER_COLUMNS
from sizebook.model.errors import BundleError
from sizebook.store import open_bundle
from sizebook.store.bundles import RECORD, verify_bundle
from sizebook.store.counter_file import make_rows, read_series, write_counters
from sizebook.store.log_columns import read_columns, write_columns
from sizebook.store.packs import pack, read_pack, unpack
from sizebook.store.zigzag import fold, unfold

SCHEMA = {name: getattr(pl, kind) for name, kind in COUNTER_COLUMNS.items()}
WORDS = st.text("abz/_-é", min_size=1, max_size=6)
VALUES = st.one_of(
    st.none(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(0, 10**9).map(lambda ticks: ticks / 100),
    st.integers(-(2**53), 2**53).map(float),
)
SERIES = st.dictionaries(
    st.tuples(WORDS, WORDS, WORDS),
    st.lists(st.tuples(st.integers(0, 2**60), VALUES), min_size=1, max_size=8),
    max_size=5,
)
LINES = st.lists(
    st.text("0123456789.[]sGC()-> %KM:\x01~", min_size=0, max_size=40), min_size=1, max_size=12
)
FEW = synthetic_bundles.closed_rows(users=2, service_ns=10**9)
PARTS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,10}", fullmatch=True)


def bits(value):
    """Return a number's own bits: -0.0 is not 0.0."""
    return None if value is None else struct.pack("<d", value)


@given(SERIES)
def test_counters_come_back_to_the_last_bit(series):
    """Any names, times and finite values; no answer stays none."""
    rows = [
        (time_ns, *words, value)
        for words, readings in series.items()
        for time_ns, value in sorted(readings, key=lambda one: one[0])
    ]
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    read = make_rows(read_series(write_counters(frame)))
    assert dict(read.schema) == dict(frame.schema)

    def told(found):
        every = found.with_columns(pl.col("host", "source", "metric").cast(pl.String)).rows()
        return sorted((*row[:4], bits(row[4]) or b"") for row in every)

    assert told(read) == told(frame)


@given(LINES)
def test_a_log_by_columns_comes_back(lines):
    """To the last byte, wherever there is such a form."""
    log = "".join(f"{line}\n" for line in lines).encode()
    columns = write_columns(log)
    assert columns is None or read_columns(columns, len(log)) == log


@given(arrays.arrays(np.int64, st.integers(0, 40), elements=st.integers(-(2**62), 2**62)))
def test_folded_numbers_come_back(numbers):
    """In no more bytes than the widest one needs."""
    width, data = fold(numbers)
    assert len(data) == width * numbers.size
    assert (unfold(data, width, numbers.size) == numbers).all()
    widest = max((abs(int(number)).bit_length() + 1 for number in numbers), default=0)
    assert width <= -(-widest // 8)


@given(st.dictionaries(PARTS, st.binary(max_size=300), max_size=5), PARTS, LINES)
def test_a_pack_comes_back(tmp_path_factory, files, folder, lines):
    """The same bytes for the same files, read and unpacked."""
    log = "".join(f"{line}\n" for line in lines).encode()
    named = {f"{folder}/{name}": data for name, data in files.items()}
    named |= {f"{folder}.d/gc/app-1.log": log}
    named = {name: data for name, data in named.items() if not name.endswith(".columns")}
    place = tmp_path_factory.mktemp("pack")
    pack(place / "one", named)
    pack(place / "other", dict(reversed(named.items())))
    assert (place / "one").read_bytes() == (place / "other").read_bytes()
    assert read_pack(place / "one") == named
    unpack(place / "one", place / "into")
    assert {name: (place / "into" / name).read_bytes() for name in named} == named


@given(SERIES, LINES, st.data())
def test_a_bundle_is_read_as_written_and_any_changed_byte_is_found(
    tmp_path_factory, series, lines, data
):
    """Counters and logs come back; one byte of any file, wherever it is, does not go unnoticed.

    The record itself has no checksum beside it: its change is refused, or seen by its checksum,
    which all evidence cites.
    """
    rows = [
        (synthetic_bundles.BEGIN + time_ns % 10**10, *words, value)
        for words, readings in series.items()
        for time_ns, value in readings
    ]
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    log = "".join(f"{line}\n" for line in lines)
    folder = tmp_path_factory.mktemp("bundles")
    written = synthetic_bundles.write_synthetic(
        folder, "b-1", rows=FEW, readings=frame, logs={"logs/app-1.log": log}
    )
    read = open_bundle(written.path)
    verify_bundle(read)
    assert (read.record, read.sha256) == (written.record, written.sha256)
    assert read.requests.equals(FEW)
    assert (read.path / "logs" / "app-1.log").read_text() == log
    names = sorted(path for path in read.path.rglob("*") if path.is_file())
    changed = data.draw(st.sampled_from(names))
    content = bytearray(changed.read_bytes())
    if not content:
        return
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    changed.write_bytes(content)
    try:
        again = open_bundle(read.path)
        verify_bundle(again)
    except BundleError:
        return
    assert changed.name == RECORD
    assert again.sha256 != written.sha256
