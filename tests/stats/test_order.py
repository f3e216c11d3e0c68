"""Order statistics: numpy's numbers, in any order of asking, from several threads."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from sizebook.stats.order import Ordered

SIZES = [1, 2, 3, 1000]
SHARES = [0, 0.1, 0.5, 0.9, 0.99, 1]


def values_of(size, largest, least=0):
    return np.random.default_rng(size).integers(least, largest, size)


def ordered(values):
    return Ordered([values], values.size)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("largest", [2, 2**32, 10**12])
def test_quantiles_are_numpys(size, largest):
    """Ties, 32 bits and more than a float32 holds; the values given stay as they were."""
    values = values_of(size, largest)
    before = values.copy()
    found = ordered(values)
    for q in SHARES:
        assert found.higher(q) == np.quantile(values, q, method="higher")
        assert found.interpolated(q) == pytest.approx(float(np.quantile(values, q)), rel=1e-12)
    assert (values == before).all()


@pytest.mark.parametrize("seed", range(5))
def test_any_order_of_questions_gives_the_sorted_values(seed):
    """What is known from one question does not spoil the next, asked twice included."""
    values = values_of(300, 50, -50)
    found = ordered(values)
    for rank in np.random.default_rng(seed).integers(0, 300, 200).tolist():
        assert found.at(rank) == np.sort(values)[rank]


def test_parts_are_the_whole():
    """Values in parts, the last ones too large or too small for the bits of the first."""
    values = np.concatenate([values_of(500, 2**32), [2**32, 2**40, -1], values_of(100, 9)])
    found = Ordered(np.split(values, [0, 10, 500, 510]), values.size)
    assert [found.at(rank) for rank in range(values.size)] == np.sort(values).tolist()
    narrow = values_of(50, 2**16).astype(np.uint32)
    assert ordered(narrow).at(49) == narrow.max()


def test_threads_may_ask():
    """Answers to many threads are those to one."""
    values = values_of(100_000, 10**6)
    found, ranks = ordered(values), np.random.default_rng(1).integers(0, 100_000, 200).tolist()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(found.at, ranks))
    assert answers == np.sort(values)[ranks].tolist()


@pytest.mark.parametrize(("size", "q"), [(0, 0.5), (3, -0.1), (3, 1.1)])
def test_a_quantile_needs_values_and_a_share(size, q):
    """Nothing is made up for no values."""
    found = Ordered([np.zeros(size, dtype=np.int64)], size)
    for quantile in (found.higher, found.interpolated):
        with pytest.raises(ValueError, match="quantile"):
            quantile(q)
    with pytest.raises(IndexError, match="rank"):
        found.at(size)


def test_a_size_that_is_not_the_values_is_refused():
    """Parts that do not add up to the size are a fault of the caller."""
    with pytest.raises(ValueError, match="3 values instead of 4"):
        Ordered([np.arange(3)], 4)
