"""Groups of rows: the same results as a group-by, at any block size."""

import numpy as np
import polars as pl
import pytest

from sizebook.stats.groups import BLOCK, Groups, blocks, is_ascending, tally


@pytest.fixture(params=[7, BLOCK])
def block(request, monkeypatch):
    """Blocks of few rows and of more rows than any test has."""
    monkeypatch.setattr("sizebook.stats.groups.BLOCK", request.param)
    return request.param


def table(rows, largest, seed=2):
    random = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "a": random.integers(0, largest, rows).astype(np.uint32),
            "b": random.integers(0, 3, rows).astype(np.uint32),
            "value": random.integers(-100, 100, rows),
            "chosen": random.random(rows) < 0.8,
        }
    ).with_row_index("row")


@pytest.mark.usefixtures("block")
@pytest.mark.parametrize("keys", [["a"], ["a", "b"]])
@pytest.mark.parametrize(("rows", "largest"), [(0, 1), (1, 1), (100, 5), (100, 2**31), (8, 8)])
def test_groups_are_those_of_a_group_by(keys, rows, largest):
    """Counts, sums, extremes and ends, with keys close together and far apart."""
    frame = table(rows, largest)
    value = pl.col("value")
    truth = (
        frame.group_by(keys)
        .agg(
            pl.len().alias("counts"),
            value.sum().alias("sum"),
            value.min().alias("min"),
            value.max().alias("max"),
            pl.col("row").min().alias("first"),
            pl.col("row").max().alias("last"),
            value.filter("chosen").min().fill_null(np.iinfo(np.int64).max).alias("chosen"),
        )
        .sort(keys)
    )
    values = frame["value"].to_numpy()
    groups = Groups(*(frame[key].to_numpy() for key in keys))
    assert groups.counts.tolist() == truth["counts"].to_list()
    assert groups.sum(values).tolist() == truth["sum"].to_list()
    assert groups.min(values).tolist() == truth["min"].to_list()
    assert groups.max(values).tolist() == truth["max"].to_list()
    both = values + frame["row"].to_numpy()
    assert groups.max(values, plus=frame["row"].to_numpy()).tolist() == groups.max(both).tolist()
    chosen = frame["chosen"].to_numpy()
    assert groups.sum(chosen).tolist() == groups.sum(chosen.astype(np.int64)).tolist()
    assert groups.first().tolist() == truth["first"].to_list()
    assert groups.last().tolist() == truth["last"].to_list()
    chosen = groups.min(values, where=frame["chosen"].to_numpy())
    assert chosen.tolist() == truth["chosen"].to_list()
    if len(keys) == 1:
        assert groups.keys().tolist() == truth["a"].to_list()


def test_keys_need_one_value_a_row():
    """Keys of unequal length, and keys without a common number, are refused."""
    with pytest.raises(ValueError, match="2, 3"):
        Groups(np.zeros(2, np.uint32), np.zeros(3, np.uint32))
    huge = np.array([2**32 - 1], dtype=np.uint32)
    with pytest.raises(ValueError, match="no common number"):
        Groups(huge, huge, huge)


@pytest.mark.usefixtures("block")
def test_a_tally_counts_every_number():
    """Small types do not overflow, and numbers that do not occur count 0."""
    codes = np.repeat(np.array([3, 0], dtype=np.uint8), [300, 5])
    assert tally(codes).tolist() == [5, 0, 0, 300]
    assert tally(np.zeros(0, dtype=np.uint8)).tolist() == []


def test_order_is_seen_within_and_between_blocks(block):
    """One value out of order is found wherever it lies."""
    for size in (0, 1, block - 1, block, 2 * block + 1):
        if size > 1000:
            continue
        values = np.arange(size)
        assert is_ascending(values)
        for at in range(1, size):
            moved = values.copy()
            moved[at] = -1
            assert not is_ascending(moved)


@pytest.mark.parametrize("size", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 1 << 17])
def test_blocks_cover_all_rows_once(size):
    """Slices follow one another from the first row to the last."""
    assert np.concatenate([np.arange(size)[part] for part in blocks(size)] or [[]]).size == size
    assert sum(part.stop - part.start for part in blocks(size)) == size
