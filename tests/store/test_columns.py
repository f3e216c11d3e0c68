"""Requests by column: the same values as the frame's, in every phase, name and outcome."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import synthetic_bundles as made

from sizebook.model.errors import BundleError
from sizebook.store import open_bundle
from sizebook.store.bundles import REQUESTS
from sizebook.store.columns import ColumnStore, RequestColumns


def mixed(count=3000, seed=4):
    """Return rows of two phases, three names and two kinds of error, in no order."""
    random = np.random.default_rng(seed)
    intended = random.integers(made.BEGIN, made.END, count)
    rows = made.open_rows(intended, random.integers(1, 10**7, count))
    drained = random.random(count) < 0.02
    return rows.with_columns(
        name=pl.Series(random.choice(["list", "detail", "größe"], count)),
        error=pl.Series(random.choice(["", "", "", "body", "connect"], count)),
        phase=pl.when(pl.Series(drained)).then(pl.lit("drain")).otherwise(pl.col("phase")),
    ).cast({name: getattr(pl, made.REQUEST_COLUMNS[name]) for name in ("name", "error", "phase")})


def words(column):
    return pl.col(column).cast(pl.String)


@pytest.mark.parametrize("rows", [made.closed_rows(), mixed(), mixed().sort("start_ns")])
def test_parts_hold_what_the_frame_holds(rows):
    """Phase, outcome, name and due time choose the rows that filters of the frame choose."""
    columns, since_ns = RequestColumns.of(rows), made.MEASURED + made.S
    part, frame = columns, rows
    for column, word in (("phase", "measured"), ("error", ""), ("name", "detail")):
        part, frame = part.only(column, word), frame.filter(words(column) == word)
        for name in ("intended_ns", "start_ns", "latency_ns", "service_ns", "body_bytes"):
            assert part[name].tolist() == frame[name].to_list()
        assert part.height == frame.height
        later = frame.filter(pl.col("intended_ns") >= since_ns)
        assert part.since(since_ns)["user"].tolist() == later["user"].to_list()
        assert [part.words("name")[at] for at in part.codes("name")] == frame["name"].to_list()


def test_words_are_those_of_the_table():
    """Words come sorted; one that the table lacks belongs to no request."""
    columns = RequestColumns.of(mixed())
    assert columns.words("name") == ("detail", "größe", "list")
    assert not columns.has("name", "other").any()
    assert columns.only("name", "other").height == 0
    assert columns.only("name", "other")["latency_ns"].size == 0


def test_a_run_of_rows_is_a_view_and_equal_columns_share_memory():
    """What costs nothing is not copied: a phase in one piece, latency that is service time."""
    columns = RequestColumns.of(made.closed_rows())
    measured = columns.only("phase", "measured")
    assert np.shares_memory(measured["start_ns"], columns["start_ns"])
    assert np.shares_memory(columns["latency_ns"], columns["service_ns"])
    assert measured.only("error", "") is measured
    assert columns.only("phase", "measured") is measured
    late = RequestColumns.of(made.closed_rows().with_columns(pl.col("latency_ns") + 1))
    assert (late["latency_ns"] == late["service_ns"] + 1).all()


@pytest.mark.parametrize("height", [0, 1])
def test_hardly_any_requests(height):
    """No request and one request are tables like others."""
    columns = RequestColumns.of(made.closed_rows()[:height])
    assert columns.height == height
    assert columns.only("phase", "warm-up").only("error", "")["start_ns"].size == height
    assert columns.only("phase", "measured").since(0).height == 0
    assert len(columns.words("name")) == height


def test_a_bundle_gives_the_columns_of_its_file(make_bundle):
    """Read by column or as a frame, it is the same file; its checksum is verified either way."""
    bundle = make_bundle(rows=mixed())
    for name in made.REQUEST_COLUMNS:
        if name not in ("name", "error", "phase"):
            assert bundle.columns[name].tolist() == bundle.requests[name].to_list()
    size = (bundle.path / REQUESTS).stat().st_size
    (bundle.path / REQUESTS).write_bytes(b"x" * size)
    with pytest.raises(BundleError, match="checksum"):
        _ = open_bundle(bundle.path).columns


def test_what_cannot_be_read_is_said(make_bundle):
    """No requests, a column that is missing, a value that is missing: one line each."""
    with pytest.raises(BundleError, match=r"without requests\.parquet"):
        _ = make_bundle(with_requests=False).columns
    with pytest.raises(BundleError, match="why the trial failed: the synthetic fault"):
        _ = make_bundle(outcome="failed", with_requests=False).columns
    with pytest.raises(BundleError, match="cannot be read"):
        _ = make_bundle().columns["colour"]
    gap = pl.when(pl.col("user") > 0).then(pl.col("status")).alias("status")
    with pytest.raises(BundleError, match="1200 rows without status"):
        _ = make_bundle(rows=made.closed_rows().with_columns(gap)).columns["status"]


def test_only_what_is_asked_for_is_read_and_only_once():
    """A question about two columns does not read the others, nor these again for a part."""
    frame, read = made.closed_rows(), []

    def column(name):
        read.append(name)
        return frame[name]

    columns = RequestColumns(ColumnStore(column), slice(0, frame.height))
    for _ in range(2):
        _ = columns["start_ns"], columns.only("phase", "measured")["start_ns"]
        _ = columns.only("phase", "warm-up").height
    assert read == ["start_ns", "phase"]


def test_numbers_without_a_sign_take_few_bytes():
    """Counts and numbers are kept in the least type that holds them, times as they are."""
    big = pl.when(pl.col("user") == 3).then(pl.lit(70_000)).otherwise(pl.col("received_bytes"))
    columns = RequestColumns.of(made.closed_rows().with_columns(received_bytes=big.cast(pl.UInt32)))
    kinds = {name: columns[name].dtype for name in ("user", "status", "received_bytes", "start_ns")}
    assert kinds == {
        "user": np.uint8,
        "status": np.uint8,
        "received_bytes": np.uint32,
        "start_ns": np.int64,
    }


@pytest.mark.parametrize("block", [7, 1 << 15])
def test_blocks_are_the_column(block, monkeypatch):
    """Parts in a row and parts with gaps, joined again, are the column."""
    monkeypatch.setattr("sizebook.store.columns._BLOCK", block)
    columns = RequestColumns.of(mixed())
    for part in (columns, columns.only("phase", "measured"), columns.only("name", "detail")):
        joined = np.concatenate(list(part.in_blocks("latency_ns")))
        assert (joined == part["latency_ns"]).all()
    assert list(columns.only("name", "other").in_blocks("latency_ns")) == []


def test_what_is_made_of_columns_is_made_once_and_shared_by_twins():
    """Latency that is service time has its quantiles; another part has its own."""
    columns, counts = RequestColumns.of(made.closed_rows()), []

    def made_of(part, column):
        return part.once("sum", (column,), lambda: counts.append(0) or int(part[column].sum()))

    assert columns.same("latency_ns", "service_ns") and not columns.same("latency_ns", "start_ns")
    assert made_of(columns, "latency_ns") == made_of(columns, "service_ns")
    assert len(counts) == 1
    measured = columns.only("phase", "measured")
    assert made_of(measured, "latency_ns") < made_of(columns, "latency_ns")
    assert len(counts) == 2
