"""Words of columns: those that polars finds, in columns read in one part or many."""

import numpy as np
import polars as pl
import pytest

from sizebook.store.words import coded, distinct_words


def column(words, parts=1):
    """Return a column of categories in parts, their numbers far apart in the process's table."""
    pl.Series([f"another table's word {n}" for n in range(300)], dtype=pl.Categorical)
    cut = np.array_split(np.array(words, dtype=object), parts)
    series = [pl.Series("name", part.tolist(), dtype=pl.Categorical) for part in cut]
    return pl.concat(series, rechunk=False)


CASES = [[], ["a"], ["b"] * 9, list("cabbage"), [f"w{n % 300}" for n in range(1000)], ["", "ü"]]


@pytest.mark.parametrize("words", CASES)
@pytest.mark.parametrize("parts", [1, 4])
def test_words_and_codes_are_those_of_the_rows(words, parts):
    """Sorted words, and every row's word at the place that its code says."""
    series = column(words, parts)
    found, codes = coded(series)
    assert found == tuple(sorted(set(words)))
    assert [found[code] for code in codes.tolist()] == words
    by_number = distinct_words(series)
    assert list(by_number) == sorted(series.to_physical().unique().to_list())
    assert set(by_number.values()) == set(words)


def test_strings_are_words_too():
    """A frame that was made here and not read has strings."""
    found, codes = coded(pl.Series("name", ["b", "a", "b"]))
    assert (found, codes.tolist()) == (("a", "b"), [1, 0, 1])
