"""Tables that somebody prepared: refused before they fill the memory, whatever the file claims."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import synthetic_bundles as made
from synthetic_bundles import BEGIN, END, MakeBundle
from tampered import change_record, put_file

from sizebook.model.errors import BundleError
from sizebook.store import Bundle, open_bundle
from sizebook.store.bundles import COUNTERS, REQUESTS, SCHEDULE
from sizebook.store.sandboxed_read import BASE_BYTES, taste_bundles
from sizebook.store.tables import MOST_WORDS

MUTATIONS = 400
DAY = 24 * 3600 * 10**9
Change = Callable[[pl.DataFrame], pl.DataFrame]


def parquet(frame: pl.DataFrame, folder: Path) -> bytes:
    frame.write_parquet(folder.parent / "made.parquet", compression="zstd", statistics=False)
    return (folder.parent / "made.parquet").read_bytes()


def with_table(bundle: Bundle, name: str, frame: pl.DataFrame) -> Bundle:
    put_file(bundle.path, name, parquet(frame, bundle.path))
    return open_bundle(bundle.path)


def set_to(column: str, value: Any, rows: Any = 0) -> Change:
    """Return what gives one row of a frame another value."""

    def change(frame: pl.DataFrame) -> pl.DataFrame:
        kind = frame.schema[column]
        here = pl.int_range(pl.len()) == rows
        return frame.with_columns(
            pl.when(here).then(pl.lit(value, dtype=kind)).otherwise(pl.col(column)).alias(column)
        )

    return change


def many_words(frame: pl.DataFrame) -> pl.DataFrame:
    names = [f"name {number}" for number in range(frame.height)]
    return frame.with_columns(name=pl.Series(names, dtype=pl.Categorical))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop("user"), "no user"),
        (lambda f: f.with_columns(extra=1), "unexpected extra Int32"),
        (lambda f: f.select(reversed(f.columns)), "in another order"),
        (lambda f: f.with_columns(pl.col("start_ns").cast(pl.Float64)), "start_ns Float64"),
        (lambda f: f.with_columns(pl.col("name").cast(pl.String)), "name String"),
        (lambda f: f.with_columns(status=pl.concat_list("status", "user")), "status List"),
        (lambda f: f.with_columns(pl.struct("user").alias("user")), "user Struct"),
        (set_to("latency_ns", -1), "latency_ns from -1"),
        (set_to("service_ns", 2**63 - 1), "service_ns from"),
        (set_to("latency_ns", 3600 * 10**9 + 1), "latency_ns from"),
        (set_to("start_ns", -1), "start_ns from -1"),
        (set_to("intended_ns", -(2**63)), "intended_ns from"),
        (set_to("intended_ns", END + 2 * DAY), "intended_ns from"),
        (set_to("status", None), "1 rows without status"),
        (set_to("name", None), "1 rows without name"),
        (set_to("error", "x" * 501), "a word of 501 characters as error"),
        (set_to("phase", "<b>"), "the phase '<b>'"),
        (many_words, f"4800 different words as name, at most {MOST_WORDS}"),
    ],
)
def test_requests_that_the_harness_does_not_write(
    make_bundle: MakeBundle, change: Change, message: str
) -> None:
    """Columns, types, order, nulls, times, words: each is named; the checksum fits every time."""
    bundle = with_table(make_bundle(), REQUESTS, change(made.closed_rows()))
    with pytest.raises(BundleError, match=message):
        _ = bundle.requests


@pytest.mark.parametrize("column", ["start_ns", "name", "latency_ns"])
def test_one_column_alone_is_checked_too(make_bundle: MakeBundle, column: str) -> None:
    """Reading by column finds what reading the table finds."""
    value: Any = "x" * 501 if column == "name" else -1
    bundle = with_table(make_bundle(), REQUESTS, set_to(column, value, 7)(made.closed_rows()))
    assert bundle.columns["user"].size == 4800
    with pytest.raises(BundleError, match=column):
        bundle.columns.words(column) if column == "name" else bundle.columns[column]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop("host"), "no host"),
        (set_to("time_ns", -5), "time_ns from -5"),
        (set_to("time_ns", 2**62), "time_ns from"),
        (set_to("metric", None), "rows without metric"),
        (set_to("source", "<" * 1000), "a word of 1000 characters"),
    ],
)
def test_counters_that_the_harness_does_not_write(
    make_bundle: MakeBundle, change: Change, message: str
) -> None:
    """The same for readings."""
    frame = made.counter_rows({("host", "swap_in_bytes"): 0.0})
    bundle = with_table(make_bundle(), COUNTERS, change(frame))
    with pytest.raises(BundleError, match=message):
        _ = bundle.counters


def test_a_reading_that_is_no_number_is_missing(make_bundle: MakeBundle) -> None:
    """NaN and infinity become null, finite numbers and nulls stay."""
    rows = [(BEGIN + n, "local", "host", "m", v) for n, v in enumerate((1.5, None, np.nan, np.inf))]
    kinds = {name: getattr(pl, kind) for name, kind in made.COUNTER_COLUMNS.items()}
    bundle = with_table(make_bundle(), COUNTERS, pl.DataFrame(rows, schema=kinds, orient="row"))
    assert bundle.counters["value"].to_list() == [1.5, None, None, None]


@pytest.mark.parametrize("height", [0, 1])
def test_hardly_any_rows_are_a_table(make_bundle: MakeBundle, height: int) -> None:
    """An empty table has no value out of range."""
    bundle = with_table(make_bundle(), REQUESTS, made.closed_rows()[:height])
    bundle = with_table(bundle, COUNTERS, bundle.counters[:height])
    bundle = with_table(
        bundle, SCHEDULE, pl.DataFrame({"offset_ns": pl.Series([5][:height], dtype=pl.Int64)})
    )
    assert [bundle.requests.height, bundle.counters.height, bundle.columns.height] == [height] * 3
    assert bundle.schedule["offset_ns"].to_list() == [5][:height]


def test_a_small_file_cannot_hold_many_rows(make_bundle: MakeBundle) -> None:
    """A table of kilobytes that says it has millions of rows is refused by its footer."""
    bomb = made.closed_rows()[:1].sample(2_000_000, with_replacement=True)
    bundle = with_table(make_bundle(), REQUESTS, bomb)
    size = bundle.record.files[REQUESTS].bytes
    assert size < 100_000
    with pytest.raises(BundleError, match=f"2000000 rows in {size} bytes"):
        _ = bundle.columns
    with pytest.raises(BundleError, match="2000000 rows"):
        _ = bundle.requests
    bundle = with_table(bundle, SCHEDULE, pl.DataFrame({"offset_ns": np.zeros(3_000_000, int)}))
    with pytest.raises(BundleError, match="3000000 rows"):
        _ = bundle.schedule


def test_honest_tables_fit(make_bundle: MakeBundle) -> None:
    """What compresses best, evenly spaced arrivals with equal latencies, has room enough."""
    intended = np.arange(BEGIN, END, 20_000)
    rows = made.open_rows(intended, np.full(intended.size, 1_000_000))
    bundle = make_bundle(rows=rows, due=intended, arrivals=made.ClosedLoop(users=100))
    assert open_bundle(bundle.path).requests.height == 600_000
    assert open_bundle(bundle.path).schedule.height == 600_000


@pytest.mark.parametrize(
    "data",
    [b"", b"PAR1", b"PAR1" * 3, b"PAR1" + b"\xff" * 4 + b"PAR1", b"\0" * 4096, b"not Parquet" * 9],
)
def test_what_is_no_parquet(make_bundle: MakeBundle, data: bytes) -> None:
    """Nothing, a head alone, a footer longer than the file."""
    bundle = make_bundle()
    put_file(bundle.path, REQUESTS, data)
    bundle = open_bundle(bundle.path)
    for read in (lambda: bundle.requests, lambda: bundle.columns):
        with pytest.raises(BundleError, match=r"requests\.parquet .*cannot be read"):
            read()


def mutate(good: bytes, chance: random.Random) -> bytes:
    """Return the bytes with a few of them changed, cut out, or cut off."""
    data = bytearray(good)
    kind = chance.choice(("anywhere", "anywhere", "footer", "footer", "cut off", "cut out"))
    if kind == "cut off":
        return bytes(data[: chance.randrange(len(data))])
    at = chance.randrange(len(data))
    if kind == "cut out":
        return bytes(data[:at] + data[at + chance.randrange(1, 64) :])
    footer = 8 + int.from_bytes(good[-8:-4], "little")
    first = len(data) - footer if kind == "footer" else 0
    for _ in range(chance.choice((1, 1, 2, 5))):
        data[chance.randrange(first, len(data))] = chance.choice((0, 0x7F, 0x80, 0xFF, at % 256))
    return bytes(data)


def test_damage_with_checksums_that_fit_is_a_message(make_bundle: MakeBundle) -> None:
    """Hundreds of mutated tables: read as a table of the format, or refused; never anything else.

    Some make polars panic, which is no Exception and must not end the program.
    """
    bundle = make_bundle(rows=made.closed_rows(users=2, service_ns=200_000_000))
    good = {name: (bundle.path / name).read_bytes() for name in (REQUESTS, COUNTERS)}
    chance = random.Random(20)
    refused = 0
    for number in range(MUTATIONS):
        name = COUNTERS if number % 4 == 0 else REQUESTS
        put_file(bundle.path, name, mutate(good[name], chance))
        opened = open_bundle(bundle.path)
        try:
            frame = opened.counters if name == COUNTERS else opened.requests
        except BundleError as error:
            assert error.found and "\n" not in str(error)
            refused += 1
        else:
            columns = made.COUNTER_COLUMNS if name == COUNTERS else made.REQUEST_COLUMNS
            assert frame.columns == list(columns)
        put_file(bundle.path, name, good[name])
    assert MUTATIONS // 2 < refused < MUTATIONS


def test_a_panic_is_a_message(make_bundle: MakeBundle, monkeypatch: pytest.MonkeyPatch) -> None:
    """What polars raises when its native code gives up passes by every ``except Exception``."""

    def panic(*_: object, **__: object) -> pl.DataFrame:
        raise pl.exceptions.PanicException("index out of bounds\nmore")

    bundle = make_bundle()
    monkeypatch.setattr(pl, "read_parquet", panic)
    assert not issubclass(pl.exceptions.PanicException, Exception)
    with pytest.raises(BundleError, match="cannot be read: index out of bounds;"):
        _ = bundle.requests


def test_damage_is_found_by_its_checksum_first(make_bundle: MakeBundle) -> None:
    """A table is not parsed before its checksum was found to be the recorded one."""
    bundle = make_bundle()
    data = bytearray((bundle.path / REQUESTS).read_bytes())
    for at in (0, len(data) // 2, len(data) - 9, len(data) - 1):
        damaged = bytearray(data)
        damaged[at] ^= 0xFF
        (bundle.path / REQUESTS).write_bytes(damaged)
        with pytest.raises(BundleError, match="checksum is not the recorded one"):
            _ = open_bundle(bundle.path).requests
        with pytest.raises(BundleError, match="checksum is not the recorded one"):
            _ = open_bundle(bundle.path).columns


def test_the_taster_dies_instead_of_the_reader(make_bundle: MakeBundle) -> None:
    """A word of 200 MB in a few kilobytes takes more memory than a taster has."""
    honest, bomb = make_bundle(), make_bundle()
    taste_bundles([])
    taste_bundles([honest.path])
    word = pl.lit("x" * (BASE_BYTES // 8)).cast(pl.Categorical)
    rows = made.closed_rows()[:1].with_columns(name=word)
    with_table(bomb, REQUESTS, rows)
    assert (bomb.path / REQUESTS).stat().st_size < 2**17
    with pytest.raises(BundleError, match=f"bundle {bomb.id}"):
        taste_bundles([honest.path, bomb.path, honest.path])


def test_the_taster_names_what_is_wrong(make_bundle: MakeBundle) -> None:
    """What a reader would say comes back from the other process, for the right bundle."""
    first, second = make_bundle(), make_bundle()
    with_table(second, REQUESTS, set_to("latency_ns", -1)(made.closed_rows()))
    with pytest.raises(BundleError, match=rf"{second.id} with requests\.parquet with latency_ns"):
        taste_bundles([first.path, second.path])
    put_file(first.path, "probes.json", b'{"format":"other"}')
    with pytest.raises(BundleError, match=rf"{first.id} with a probes\.json"):
        taste_bundles([first.path])
    change_record(first.path, lambda record: record.update(version=3))
    with pytest.raises(BundleError, match="version 3"):
        taste_bundles([first.path])
